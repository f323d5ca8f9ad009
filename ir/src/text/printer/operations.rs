//! Modules, functions, regions, the generic form and the tabled forms.

use super::Printer;
use crate::text::form::{Clause, ClauseValue, Form};
use crate::{Attr, AttrId, BlockId, NamedAttr, OpId, OpKind, RegionId, Type, TypeId, ValueId};

impl Printer<'_> {
    pub(super) fn top_module(&mut self) {
        let top = self.module.top();
        if self.options.generic {
            self.generic(top, true);
        } else {
            self.inner_module(top, true);
        }
        self.push("\n");
    }

    /// `module @name attributes {…} {…}`.
    pub(super) fn inner_module(&mut self, op: OpId, elide: bool) {
        self.push(if elide { "module" } else { "builtin.module" });
        if let Some(name) = self.module.string_attr(op, "sym_name") {
            self.push(" ");
            self.symbol(name);
        }
        let attributes = self.module.op(op).attributes.clone();
        if !attributes.is_empty() {
            self.push(" attributes ");
            self.dictionary(&attributes);
        }
        self.push(" ");
        if let Some(&region) = self.module.op(op).regions.first() {
            self.region(region, &[], false, Some(op));
        }
        self.trailing_location(self.module.op(op).loc);
    }

    /// One operation on its own line. `parent` is the operation around it.
    fn operation(&mut self, op: OpId, parent: Option<OpId>) {
        self.new_line();
        self.results(op);
        let kind = self.module.op(op).kind;
        let elide = parent.is_none_or(|p| matches!(self.module.op(p).kind, OpKind::Func | OpKind::Module));
        let in_function = parent.is_some_and(|p| self.module.op(p).kind == OpKind::Func);
        if kind == OpKind::Module && !self.options.generic {
            return self.inner_module(op, elide);
        }
        if !self.options.generic && self.is_sdy(op) && self.sdy_is_sayable(op) {
            self.push(self.module.op_name(op));
            self.sdy_op(op);
            return self.trailing_location(self.module.op(op).loc);
        }
        let form = if self.options.generic { Form::Generic } else { self.form(op, kind) };
        match form {
            Form::Generic => self.generic(op, false),
            _ => {
                let name = self.module.op_name(op);
                let short =
                    (in_function && kind != OpKind::Func).then(|| name.strip_prefix("func.")).flatten();
                self.push(short.unwrap_or(name));
                self.pretty(op, form);
            }
        }
        self.trailing_location(self.module.op(op).loc);
    }

    /// `%a, %b:2 = `.
    fn results(&mut self, op: OpId) {
        let results = self.module.op(op).results.clone();
        if results.is_empty() {
            return;
        }
        // A group starts at each named result; without any name all are one group.
        let starts: Vec<usize> =
            (0..results.len()).filter(|i| *i == 0 || self.module.value_name(results[*i]).is_some()).collect();
        for (position, &start) in starts.iter().enumerate() {
            let end = starts.get(position + 1).copied().unwrap_or(results.len());
            if position > 0 {
                self.push(", ");
            }
            self.names.define(self.module, results[start]);
            self.value(results[start]);
            if end - start > 1 {
                self.push(&format!(":{}", end - start));
            }
        }
        self.push(" = ");
    }

    /// A use of a value.
    pub(super) fn value(&mut self, value: ValueId) {
        let name = self.names.of(self.module, value);
        // The defining place names a group by its first result, without an index.
        self.push(&name);
    }

    /// A use in operand position: results of a group carry their number.
    pub(super) fn operand(&mut self, value: ValueId) {
        let name = self.names.of(self.module, value);
        self.push(&name);
        if !name.contains('#') && self.is_group_head(value) {
            self.push("#0");
        }
    }

    /// Whether a value is the first of several results printed as one group.
    fn is_group_head(&self, value: ValueId) -> bool {
        let Some(op) = self.module.defining_op(value) else { return false };
        let results = &self.module.op(op).results;
        let place = results.iter().position(|r| *r == value);
        let next = place.and_then(|place| results.get(place + 1));
        next.is_some_and(|next| self.module.value_name(*next).is_none())
    }

    pub(super) fn operands(&mut self, values: &[ValueId]) {
        self.list(values, Self::operand);
    }

    pub(super) fn operand_types(&self, op: OpId) -> Vec<TypeId> {
        self.module.op(op).operands.iter().map(|v| self.module.value_type(*v)).collect()
    }

    pub(super) fn result_type_list(&self, op: OpId) -> Vec<TypeId> {
        self.module.op(op).results.iter().map(|v| self.module.value_type(*v)).collect()
    }

    fn generic(&mut self, op: OpId, top: bool) {
        let data = self.module.op(op).clone();
        self.string(self.module.op_name(op).as_bytes());
        self.push("(");
        self.operands(&data.operands);
        self.push(")");
        if !data.properties.is_empty() {
            self.push(" <");
            self.dictionary(&data.properties);
            self.push(">");
        }
        if !data.regions.is_empty() {
            self.push(" (");
            for (index, &region) in data.regions.iter().enumerate() {
                if index > 0 {
                    self.push(", ");
                }
                self.region(region, &[], true, Some(op));
            }
            self.push(")");
        }
        if !data.attributes.is_empty() {
            self.push(" ");
            self.dictionary(&data.attributes);
        }
        self.push(" : ");
        let (inputs, results) = (self.operand_types(op), self.result_type_list(op));
        self.signature(&inputs, &results);
        if top {
            self.trailing_location(data.loc);
        }
    }

    /// `{ … }`. `header` prints `^bb0(…):` if the block has arguments; `named`
    /// are arguments that the operation's own form has named already.
    pub(super) fn region(&mut self, region: RegionId, named: &[ValueId], header: bool, parent: Option<OpId>) {
        self.push("{");
        let mark = self.names.enter();
        for (index, &block) in self.module.region(region).blocks.iter().enumerate() {
            self.block(
                block,
                named,
                header && (index > 0 || !self.module.block(block).arguments.is_empty()),
                parent,
            );
        }
        self.names.leave(&mark);
        self.new_line();
        self.push("}");
    }

    fn block(&mut self, block: BlockId, named: &[ValueId], header: bool, parent: Option<OpId>) {
        let arguments = self.module.block(block).arguments.clone();
        for &argument in arguments.iter().filter(|a| !named.contains(a)) {
            self.names.define(self.module, argument);
        }
        if header {
            self.new_line();
            self.push("^bb0(");
            for (index, &argument) in arguments.iter().enumerate() {
                if index > 0 {
                    self.push(", ");
                }
                self.value(argument);
                self.push(": ");
                self.ty(self.module.value_type(argument));
                let loc = self.module.block(block).argument_locs.get(index).copied();
                self.trailing_location(loc.unwrap_or_else(crate::LocId::unknown));
            }
            self.push("):");
        }
        self.indent += 1;
        for op in self.module.block(block).ops.clone() {
            self.operation(op, parent);
        }
        self.indent -= 1;
    }

    /// An operation after its name, in pretty form.
    fn pretty(&mut self, op: OpId, form: Form) {
        let operands = self.module.op(op).operands.clone();
        match form {
            Form::Generic => {}
            Form::Special => self.special(op),
            Form::SameType => {
                self.spaced_operands(&operands);
                self.attr_dict(op, &[]);
                self.same_type_signature(op);
            }
            Form::SameTypeClauses(clauses) => {
                self.spaced_operands(&operands);
                self.clauses(op, clauses, true);
                self.attr_dict(op, clauses);
                self.same_type_signature(op);
            }
            Form::Functional(clauses) => {
                self.spaced_operands(&operands);
                self.clauses(op, clauses, !operands.is_empty());
                self.attr_dict(op, clauses);
                self.function_signature(op);
            }
            Form::OperandTypes => {
                self.spaced_operands(&operands);
                self.attr_dict(op, &[]);
                if !operands.is_empty() {
                    self.push(" : ");
                    let types = self.operand_types(op);
                    self.list(&types, Self::ty);
                }
            }
            Form::Arrow => {
                self.spaced_operands(&operands);
                self.attr_dict(op, &[]);
                self.arrow_signature(op);
            }
            Form::ParenArrow(clauses) => {
                self.push("(");
                self.operands(&operands);
                self.clauses(op, clauses, true);
                self.push(")");
                self.attr_dict(op, clauses);
                self.arrow_signature(op);
            }
            Form::ResultType(clauses) => {
                self.clauses(op, clauses, false);
                self.attr_dict(op, clauses);
                self.push(" : ");
                let types = self.result_type_list(op);
                self.list(&types, Self::ty);
            }
        }
    }

    pub(super) fn spaced_operands(&mut self, operands: &[ValueId]) {
        if !operands.is_empty() {
            self.push(" ");
            self.operands(operands);
        }
    }

    /// `, keyword = value` of each clause; no comma before the first without operands.
    fn clauses(&mut self, op: OpId, clauses: &[Clause], leading_comma: bool) {
        for (index, clause) in clauses.iter().enumerate() {
            self.push(if index > 0 || leading_comma { ", " } else { " " });
            self.push(clause.keyword);
            self.push(" = ");
            let module = self.module;
            match (clause.value, module.attr(op, clause.attribute)) {
                (ClauseValue::Integers, Some(Attr::DenseIntArray { values, .. })) => self.integers(values),
                (ClauseValue::Integer, Some(Attr::Int { value, .. })) => self.push(&value.to_string()),
                (ClauseValue::Bool, Some(Attr::Bool(value))) => {
                    self.push(if *value { "true" } else { "false" })
                }
                (ClauseValue::Enum(_), Some(Attr::Enum(_, value))) => self.push(module.names.get(*value)),
                (_, Some(_)) => {
                    if let Some(attr) = module.attr_id(op, clause.attribute) {
                        self.attribute(attr);
                    }
                }
                (_, None) => {}
            }
        }
    }

    /// ` {…}` of the attributes that nothing else says.
    fn attr_dict(&mut self, op: OpId, clauses: &[Clause]) {
        let said: Vec<&str> = clauses.iter().map(|clause| clause.attribute).collect();
        self.attr_dict_without(op, &said);
    }

    pub(super) fn attr_dict_without(&mut self, op: OpId, said: &[&str]) {
        let data = self.module.op(op);
        let unsaid = |entry: &&NamedAttr| !said.contains(&self.module.names.get(entry.0));
        let mut entries: Vec<(crate::Symbol, AttrId)> =
            data.properties.iter().chain(&data.attributes).filter(unsaid).copied().collect();
        entries.sort_by(|a, b| self.module.names.get(a.0).cmp(self.module.names.get(b.0)));
        if !entries.is_empty() {
            self.push(" ");
            self.dictionary(&entries);
        }
    }

    /// `: type` if operands and the one result have one type, else the function type.
    pub(super) fn same_type_signature(&mut self, op: OpId) {
        let (inputs, results) = (self.operand_types(op), self.result_type_list(op));
        self.push(" : ");
        match results[..] {
            [result] if inputs.iter().all(|ty| *ty == result) => self.ty(result),
            _ => self.signature(&inputs, &results),
        }
    }

    pub(super) fn function_signature(&mut self, op: OpId) {
        let (inputs, results) = (self.operand_types(op), self.result_type_list(op));
        self.push(" : ");
        self.signature(&inputs, &results);
    }

    /// `: type, type -> type`.
    fn arrow_signature(&mut self, op: OpId) {
        let (inputs, results) = (self.operand_types(op), self.result_type_list(op));
        self.push(" : ");
        self.list(&inputs, Self::ty);
        self.push(" -> ");
        match results[..] {
            [only] if !matches!(self.module.types.get(only), Type::Function { .. }) => self.ty(only),
            _ => {
                self.push("(");
                self.list(&results, Self::ty);
                self.push(")");
            }
        }
    }
}
