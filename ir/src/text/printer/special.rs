//! Operations with a form of their own.

use super::Printer;
use crate::text::form::is_commutative;
use crate::{Attr, OpId, OpKind, TypeId, ValueId};

impl Printer<'_> {
    pub(super) fn special(&mut self, op: OpId) {
        match self.module.op(op).kind {
            OpKind::Complex => self.complex(op),
            OpKind::Constant => self.constant(op),
            OpKind::Compare => self.compare(op),
            OpKind::Select => self.select(op),
            OpKind::Slice => self.slice(op),
            OpKind::ReducePrecision => self.reduce_precision(op),
            OpKind::Tuple => self.tuple(op),
            OpKind::GetTupleElement => self.get_tuple_element(op),
            OpKind::Dot | OpKind::DotGeneral => self.dot(op),
            OpKind::Convolution => self.convolution(op),
            OpKind::Reduce => self.reduce(op),
            OpKind::While => self.while_loop(op),
            OpKind::Func => self.function(op),
            OpKind::FuncCall => self.call(op, "callee"),
            OpKind::CustomCall => self.custom_call(op),
            OpKind::Composite => self.composite(op),
            _ => {}
        }
    }

    fn operands_of(&self, op: OpId) -> Vec<ValueId> {
        self.module.op(op).operands.to_vec()
    }

    fn constant(&mut self, op: OpId) {
        self.attr_dict_without(op, &["value"]);
        self.push(" ");
        if let Some(value) = self.module.attr_id(op, "value") {
            self.attribute(value);
        }
    }

    fn complex(&mut self, op: OpId) {
        self.spaced_operands(&self.operands_of(op));
        self.attr_dict_without(op, &[]);
        self.push(" : ");
        let types = self.result_type_list(op);
        self.list(&types, Self::ty);
    }

    fn compare(&mut self, op: OpId) {
        let module = self.module;
        let name_of = |attr: Option<&Attr>| match attr {
            Some(Attr::Enum(_, value)) => Some(module.names.get(*value)),
            _ => None,
        };
        self.push(" ");
        self.push(name_of(module.attr(op, "comparison_direction")).unwrap_or_default());
        self.push(", ");
        self.operands(&self.operands_of(op));
        if let Some(how) = name_of(module.attr(op, "compare_type")) {
            self.push(", ");
            self.push(how);
        }
        self.attr_dict_without(op, &["comparison_direction", "compare_type"]);
        self.function_signature(op);
    }

    fn select(&mut self, op: OpId) {
        self.spaced_operands(&self.operands_of(op));
        self.attr_dict_without(op, &[]);
        let types = self.operand_types(op);
        self.push(" : ");
        self.list(&types[..2], Self::ty);
    }

    fn slice(&mut self, op: OpId) {
        self.spaced_operands(&self.operands_of(op));
        let module = self.module;
        let array = |name: &str| match module.attr(op, name) {
            Some(Attr::DenseIntArray { values, .. }) => values.clone(),
            _ => Vec::new(),
        };
        let (starts, limits, strides) = (array("start_indices"), array("limit_indices"), array("strides"));
        let ranges: Vec<String> = starts
            .iter()
            .zip(&limits)
            .zip(&strides)
            .map(|((start, limit), stride)| match stride {
                1 => format!("{start}:{limit}"),
                _ => format!("{start}:{limit}:{stride}"),
            })
            .collect();
        self.push(&format!(" [{}]", ranges.join(", ")));
        self.attr_dict_without(op, &["start_indices", "limit_indices", "strides"]);
        self.function_signature(op);
    }

    fn reduce_precision(&mut self, op: OpId) {
        self.spaced_operands(&self.operands_of(op));
        let bits = |name: &str| match self.module.attr(op, name) {
            Some(Attr::Int { value, .. }) => *value,
            _ => 0,
        };
        let format = format!(", format = e{}m{}", bits("exponent_bits"), bits("mantissa_bits"));
        self.push(&format);
        self.attr_dict_without(op, &["exponent_bits", "mantissa_bits"]);
        self.same_type_signature(op);
    }

    fn tuple(&mut self, op: OpId) {
        self.spaced_operands(&self.operands_of(op));
        self.attr_dict_without(op, &[]);
        self.push(" : ");
        let types = self.result_type_list(op);
        self.list(&types, Self::ty);
    }

    fn get_tuple_element(&mut self, op: OpId) {
        self.spaced_operands(&self.operands_of(op));
        if let Some(Attr::Int { value, .. }) = self.module.attr(op, "index") {
            self.push(&format!("[{value}]"));
        }
        self.attr_dict_without(op, &["index"]);
        self.function_signature(op);
    }

    /// `[DEFAULT, DEFAULT]`.
    fn precisions(&mut self, op: OpId) {
        let module = self.module;
        let Some(Attr::Array(items)) = module.attr(op, "precision_config") else { return };
        let names: Vec<&str> = items
            .iter()
            .filter_map(|item| match module.attrs.get(*item) {
                Attr::Enum(_, value) => Some(module.names.get(*value)),
                _ => None,
            })
            .collect();
        if !names.is_empty() {
            self.push(&format!(", precision = [{}]", names.join(", ")));
        }
    }

    fn dot(&mut self, op: OpId) {
        self.spaced_operands(&self.operands_of(op));
        let module = self.module;
        if let Some(Attr::DotDims(dims)) = module.attr(op, "dot_dimension_numbers") {
            if !dims.lhs_batching.is_empty() || !dims.rhs_batching.is_empty() {
                self.push(", batching_dims = ");
                self.integers(&dims.lhs_batching);
                self.push(" x ");
                self.integers(&dims.rhs_batching);
            }
            self.push(", contracting_dims = ");
            self.integers(&dims.lhs_contracting);
            self.push(" x ");
            self.integers(&dims.rhs_contracting);
        }
        self.precisions(op);
        if let Some(algorithm) = module.attr_id(op, "algorithm") {
            let mut text = super::Printer::new(module, self.options);
            text.attribute(algorithm);
            self.push(", algorithm = ");
            self.push(text.out.strip_prefix("#stablehlo.dot_algorithm").unwrap_or(&text.out));
        }
        self.attr_dict_without(op, &["dot_dimension_numbers", "precision_config", "algorithm"]);
        self.function_signature(op);
    }

    fn convolution(&mut self, op: OpId) {
        let module = self.module;
        self.push("(");
        self.operands(&self.operands_of(op));
        self.push(") dim_numbers = ");
        if let Some(Attr::ConvDims(dims)) = module.attr(op, "dimension_numbers") {
            self.conv_dims(dims);
        }
        self.push(", window = {");
        let mut first = true;
        for (keyword, name) in WINDOW_FIELDS {
            let Some(attr) = module.attr(op, name) else { continue };
            if !std::mem::take(&mut first) {
                self.push(", ");
            }
            self.push(keyword);
            self.push(" = ");
            self.window_field(attr);
        }
        self.push("}");
        let mut said: Vec<&str> = WINDOW_FIELDS.iter().map(|(_, name)| *name).collect();
        said.push("dimension_numbers");
        self.attr_dict_without(op, &said);
        self.function_signature(op);
    }

    fn window_field(&mut self, attr: &Attr) {
        match attr {
            Attr::DenseIntArray { element, values } => {
                let module = self.module;
                let boolean =
                    matches!(module.types.get(*element), crate::Type::Scalar(crate::ElementType::Bool));
                if boolean {
                    let words: Vec<&str> =
                        values.iter().map(|v| if *v == 0 { "false" } else { "true" }).collect();
                    self.push(&format!("[{}]", words.join(", ")));
                } else {
                    self.integers(values);
                }
            }
            Attr::Dense(dense) => {
                let count =
                    self.module.types.as_tensor(dense.ty).and_then(|t| t.element_count()).unwrap_or(0);
                let read = |index: u64| {
                    let at = if dense.splat { 0 } else { index as usize * 8 };
                    let mut word = [0u8; 8];
                    word.copy_from_slice(dense.bytes.get(at..at + 8).unwrap_or(&[0; 8]));
                    i64::from_le_bytes(word)
                };
                let pairs: Vec<String> = (0..count / 2)
                    .map(|pair| format!("[{}, {}]", read(2 * pair), read(2 * pair + 1)))
                    .collect();
                self.push(&format!("[{}]", pairs.join(", ")));
            }
            _ => {}
        }
    }

    /// The operation of a body that `applies` can say.
    fn applied(&self, op: OpId) -> Option<&str> {
        let module = self.module;
        let block = module.region(module.op(op).regions[0]).blocks.first()?;
        let block = module.block(*block);
        let (&[inner, end], &[a, b]) = (&block.ops[..], &block.arguments[..]) else { return None };
        let (inner_op, end) = (module.op(inner), module.op(end));
        let plain = inner_op.operands[..] == [a, b]
            && end.operands[..] == inner_op.results[..]
            && inner_op.results.len() == 1
            && inner_op.properties.is_empty()
            && inner_op.attributes.is_empty()
            && inner_op.regions.is_empty()
            && end.attributes.is_empty()
            && end.kind == OpKind::Return
            && inner_op.loc == module.op(op).loc
            && is_commutative(inner_op.kind)
            && module.value_type(inner_op.results[0]) == module.value_type(a);
        plain.then(|| module.op_name(inner))
    }

    fn reduce(&mut self, op: OpId) {
        let operands = self.operands_of(op);
        let count = operands.len() / 2;
        for index in 0..count {
            self.push(if index == 0 { "(" } else { ", (" });
            self.operand(operands[index]);
            self.push(" init: ");
            self.operand(operands[count + index]);
            self.push(")");
        }
        let applied = self.applied(op).filter(|_| count == 1).map(str::to_owned);
        if let Some(name) = &applied {
            self.push(" applies ");
            self.push(name);
        }
        self.push(" across dimensions = ");
        let module = self.module;
        if let Some(Attr::DenseIntArray { values, .. }) = module.attr(op, "dimensions") {
            self.integers(values);
        }
        self.attr_dict_without(op, &["dimensions"]);
        self.function_signature(op);
        if applied.is_none() {
            self.reducer(op, count);
        }
    }

    fn reducer(&mut self, op: OpId, count: usize) {
        self.indent += 1;
        self.new_line();
        self.indent -= 1;
        self.push(" reducer");
        let region = self.module.op(op).regions[0];
        let Some(&block) = self.module.region(region).blocks.first() else { return };
        let arguments = self.module.block(block).arguments.clone();
        let mark = self.names.enter();
        for index in 0..count.min(arguments.len() / 2) {
            self.push("(");
            for (place, &argument) in [arguments[index], arguments[count + index]].iter().enumerate() {
                self.push(if place == 0 { "" } else { ", " });
                self.names.define(self.module, argument);
                self.value(argument);
                self.push(": ");
                self.ty(self.module.value_type(argument));
            }
            self.push(") ");
        }
        self.push(" ");
        self.region(region, &arguments, false, Some(op));
        self.names.leave(&mark);
    }

    fn while_loop(&mut self, op: OpId) {
        let data = self.module.op(op).clone();
        let entry = |index: usize| {
            self.module
                .region(data.regions[index])
                .blocks
                .first()
                .map(|b| self.module.block(*b).arguments.clone())
                .unwrap_or_default()
        };
        let (condition, body) = (entry(0), entry(1));
        let mark = self.names.enter();
        self.push("(");
        for (index, &operand) in data.operands.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            if let Some(&argument) = condition.get(index) {
                self.names.define(self.module, argument);
                self.value(argument);
            }
            self.push(" = ");
            self.operand(operand);
        }
        self.push(")");
        if !data.operands.is_empty() {
            self.push(" : ");
            let types: Vec<TypeId> = self.operand_types(op);
            self.list(&types, Self::ty);
        }
        if !data.attributes.is_empty() {
            self.push(" attributes ");
            self.dictionary(&data.attributes);
        }
        self.new_line();
        self.push("cond ");
        self.region(data.regions[0], &condition, false, Some(op));
        self.names.leave(&mark);
        self.push(" do ");
        // Both regions' arguments carry the names that stand in the list.
        let mark = self.names.enter();
        for (&argument, &first) in body.iter().zip(&condition) {
            self.names.define_like(argument, first);
        }
        self.region(data.regions[1], &body, false, Some(op));
        self.names.leave(&mark);
    }

    fn function(&mut self, op: OpId) {
        let module = self.module;
        if let Some(visibility) = module.string_attr(op, "sym_visibility") {
            self.push(" ");
            self.push(visibility);
        }
        self.push(" ");
        self.symbol(module.string_attr(op, "sym_name").unwrap_or_default());
        let Some(Attr::Type(ty)) = module.attr(op, "function_type") else { return };
        let crate::Type::Function { inputs, results } = module.types.get(*ty).clone() else {
            return;
        };
        let body = module.function_body(op);
        let arguments = body.map(|b| module.block(b).arguments.clone()).unwrap_or_default();
        let mark = self.names.enter();
        self.push("(");
        for (index, &ty) in inputs.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            if let Some(&argument) = arguments.get(index) {
                self.names.define(module, argument);
                self.value(argument);
                self.push(": ");
            }
            self.ty(ty);
            self.signature_attributes(op, "arg_attrs", index);
            let loc = body.and_then(|b| module.block(b).argument_locs.get(index).copied());
            if !arguments.is_empty() {
                self.trailing_location(loc.unwrap_or_else(crate::LocId::unknown));
            }
        }
        self.push(")");
        self.function_results(op, &results);
        let attributes = module.op(op).attributes.clone();
        if !attributes.is_empty() {
            self.push(" attributes ");
            self.dictionary(&attributes);
        }
        if let Some(&region) = module.op(op).regions.first() {
            self.push(" ");
            self.region(region, &arguments, false, Some(op));
        }
        self.names.leave(&mark);
    }

    fn function_results(&mut self, op: OpId, results: &[TypeId]) {
        let has_attrs = (0..results.len()).any(|index| self.has_signature_attributes(op, "res_attrs", index));
        match results {
            [] => {}
            [only] if !has_attrs => {
                self.push(" -> ");
                self.ty(*only);
            }
            _ => {
                self.push(" -> (");
                for (index, &ty) in results.iter().enumerate() {
                    if index > 0 {
                        self.push(", ");
                    }
                    self.ty(ty);
                    self.signature_attributes(op, "res_attrs", index);
                }
                self.push(")");
            }
        }
    }

    fn has_signature_attributes(&self, op: OpId, name: &str, index: usize) -> bool {
        let Some(Attr::Array(items)) = self.module.attr(op, name) else { return false };
        let entries = items.get(index).map(|item| self.module.attrs.get(*item));
        matches!(entries, Some(Attr::Dictionary(entries)) if !entries.is_empty())
    }

    fn signature_attributes(&mut self, op: OpId, name: &str, index: usize) {
        let module = self.module;
        let Some(Attr::Array(items)) = module.attr(op, name) else { return };
        let Some(Attr::Dictionary(entries)) = items.get(index).map(|item| module.attrs.get(*item)) else {
            return;
        };
        if !entries.is_empty() {
            self.push(" ");
            self.dictionary(entries);
        }
    }

    fn call(&mut self, op: OpId, callee: &str) {
        let module = self.module;
        self.push(" ");
        if let Some(Attr::SymbolRef(path)) = module.attr(op, callee) {
            self.symbol_ref(path);
        }
        self.push("(");
        self.operands(&self.operands_of(op));
        self.push(")");
        self.attr_dict_without(op, &[callee]);
        self.function_signature(op);
    }

    fn custom_call(&mut self, op: OpId) {
        self.push(" ");
        self.symbol(self.module.string_attr(op, "call_target_name").unwrap_or_default());
        self.push("(");
        self.operands(&self.operands_of(op));
        self.push(")");
        self.attr_dict_without(op, &["call_target_name"]);
        self.function_signature(op);
    }

    fn composite(&mut self, op: OpId) {
        let module = self.module;
        self.push(" ");
        if let Some(Attr::String(name)) = module.attr(op, "name") {
            self.string(name);
        }
        self.spaced_operands(&self.operands_of(op));
        self.attr_dict_without(op, &["name"]);
        self.function_signature(op);
    }
}

/// The fields of a convolution's window, in the order in which they are printed.
const WINDOW_FIELDS: [(&str, &str); 5] = [
    ("stride", "window_strides"),
    ("pad", "padding"),
    ("lhs_dilate", "lhs_dilation"),
    ("rhs_dilate", "rhs_dilation"),
    ("reverse", "window_reversal"),
];
