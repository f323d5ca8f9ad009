//! Operations of Shardy's dialect, in the form that JAX prints.

use super::Printer;
use crate::{Attr, OpId, OpKind};

/// What an operation prints between operands and types: `key`, the text before
/// the attribute's own, and the text that the attribute has around it.
type Field = (&'static str, &'static str, &'static str, &'static str);

const MESH: Field = ("mesh", "", "#sdy.mesh", "");
const SHARDING: Field = ("sharding", "", "#sdy.sharding", "");
const MANUAL: [Field; 3] = [
    ("in_shardings", "in_shardings=", "#sdy.sharding_per_value<", ">"),
    ("out_shardings", "out_shardings=", "#sdy.sharding_per_value<", ">"),
    ("manual_axes", "manual_axes=", "#sdy<manual_axes", ">"),
];

impl Printer<'_> {
    /// Whether the pretty form of an operation can say what it is.
    pub(super) fn sdy_is_sayable(&self, op: OpId) -> bool {
        let data = self.module.op(op);
        let says = |fields: &[Field]| fields.iter().all(|field| self.sdy_text(op, *field).is_some());
        match self.module.op_name(op) {
            "sdy.mesh" => self.module.string_attr(op, "sym_name").is_some() && says(&[MESH]),
            "sdy.sharding_constraint" | "sdy.reshard" => {
                says(&[SHARDING])
                    && data.operands.len() == 1
                    && self.operand_types(op) == self.result_type_list(op)
            }
            "sdy.manual_computation" => says(&MANUAL) && data.regions.len() == 1,
            "sdy.return" => true,
            _ => false,
        }
    }

    /// An operation of the dialect after its name.
    pub(super) fn sdy_op(&mut self, op: OpId) {
        let operands = self.module.op(op).operands.to_vec();
        match self.module.op_name(op) {
            "sdy.mesh" => {
                self.push(" ");
                let name = self.module.string_attr(op, "sym_name").unwrap_or_default().to_owned();
                self.symbol(&name);
                self.push(" = ");
                self.sdy_field(op, MESH);
                self.attr_dict_without(op, &["sym_name", "mesh"]);
            }
            "sdy.manual_computation" => self.sdy_manual_computation(op),
            "sdy.return" => {
                self.spaced_operands(&operands);
                self.attr_dict_without(op, &[]);
                if !operands.is_empty() {
                    self.push(" : ");
                    let types = self.operand_types(op);
                    self.list(&types, Self::ty);
                }
            }
            _ => {
                self.spaced_operands(&operands);
                self.push(" ");
                self.sdy_field(op, SHARDING);
                self.attr_dict_without(op, &["sharding"]);
                self.push(" : ");
                let types = self.result_type_list(op);
                self.list(&types, Self::ty);
            }
        }
    }

    fn sdy_manual_computation(&mut self, op: OpId) {
        let data = self.module.op(op).clone();
        self.push("(");
        self.operands(&data.operands);
        self.push(")");
        for field in MANUAL {
            self.push(" ");
            self.sdy_field(op, field);
        }
        let Some(&region) = data.regions.first() else { return };
        let block = self.module.region(region).blocks.first();
        let arguments = block.map(|block| self.module.block(*block).arguments.clone()).unwrap_or_default();
        let mark = self.names.enter();
        self.push(" (");
        for (index, &argument) in arguments.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            self.names.define(self.module, argument);
            self.value(argument);
            self.push(": ");
            self.ty(self.module.value_type(argument));
        }
        self.push(") ");
        self.region(region, &arguments, false, Some(op));
        self.names.leave(&mark);
        self.attr_dict_without(op, &["in_shardings", "out_shardings", "manual_axes"]);
        self.function_signature(op);
    }

    /// The part of an attribute's text that the pretty form prints.
    fn sdy_text(&self, op: OpId, (key, _, before, after): Field) -> Option<&str> {
        let Some(Attr::Opaque(text)) = self.module.attr(op, key) else { return None };
        self.module.names.get(*text).strip_prefix(before)?.strip_suffix(after)
    }

    fn sdy_field(&mut self, op: OpId, field: Field) {
        let text = self.sdy_text(op, field).unwrap_or_default().to_owned();
        self.push(field.1);
        self.push(&text);
    }

    /// Whether an operation is one of the dialect.
    pub(super) fn is_sdy(&self, op: OpId) -> bool {
        matches!(self.module.op(op).kind, OpKind::Unknown | OpKind::SdyShardingConstraint)
            && self.module.op_name(op).starts_with("sdy.")
    }
}
