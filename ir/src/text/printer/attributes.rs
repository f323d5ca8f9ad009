//! Types, attributes and locations.

use super::Printer;
use crate::text::float;
use crate::{
    Attr, AttrId, ConvDims, DenseElements, Dim, ElementType, Loc, LocId, NamedAttr, OutputAlias, Symbol,
    TensorType, Type, TypeId,
};

/// Elements up to which a literal is printed as a list; longer ones are
/// printed as bytes. MLIR's own threshold.
const MAX_LISTED_ELEMENTS: u64 = 100;

impl Printer<'_> {
    pub(super) fn ty(&mut self, ty: TypeId) {
        let module = self.module;
        match module.types.get(ty) {
            Type::Tensor(tensor) => self.tensor(tensor),
            Type::UnrankedTensor(element) => {
                self.push("tensor<*x");
                self.push(&element.to_string());
                self.push(">");
            }
            Type::Scalar(element) => self.push(&element.to_string()),
            Type::Tuple(parts) => {
                self.push("tuple<");
                self.list(parts, Self::ty);
                self.push(">");
            }
            Type::Token => self.push("!stablehlo.token"),
            Type::Function { inputs, results } => self.signature(inputs, results),
            Type::None => self.push("none"),
            Type::Opaque(text) => self.push(module.names.get(*text)),
        }
    }

    fn tensor(&mut self, tensor: &TensorType) {
        self.push("tensor<");
        for dim in &tensor.shape {
            match dim {
                Dim::Static(size) => self.push(&size.to_string()),
                Dim::Dynamic => self.push("?"),
            }
            self.push("x");
        }
        self.push(&tensor.element.to_string());
        if let Some(encoding) = tensor.encoding {
            self.push(", ");
            self.attribute(encoding);
        }
        self.push(">");
    }

    /// `(types) -> types`.
    pub(super) fn signature(&mut self, inputs: &[TypeId], results: &[TypeId]) {
        self.push("(");
        self.list(inputs, Self::ty);
        self.push(") -> ");
        match results {
            [only] if !matches!(self.module.types.get(*only), Type::Function { .. }) => self.ty(*only),
            _ => {
                self.push("(");
                self.list(results, Self::ty);
                self.push(")");
            }
        }
    }

    /// `{a = 1 : i64, b}`.
    pub(super) fn dictionary(&mut self, entries: &[NamedAttr]) {
        self.push("{");
        self.list(entries, |printer, (name, attr)| {
            let text = printer.module.names.get(name);
            if is_bare(text) {
                printer.push(text);
            } else {
                printer.string(text.as_bytes());
            }
            if !matches!(printer.module.attrs.get(attr), Attr::Unit) {
                printer.push(" = ");
                printer.attribute(attr);
            }
        });
        self.push("}");
    }

    pub(super) fn attribute(&mut self, attr: AttrId) {
        let module = self.module;
        match module.attrs.get(attr) {
            Attr::Unit => self.push("unit"),
            Attr::Bool(value) => self.push(if *value { "true" } else { "false" }),
            Attr::Int { value, ty } => self.integer(*value, *ty),
            Attr::Float { bits, ty } => self.float(*bits, *ty),
            Attr::String(bytes) => self.string(bytes),
            Attr::TypedString(bytes, ty) => {
                self.string(bytes);
                self.push(" : ");
                self.ty(*ty);
            }
            Attr::Array(items) => {
                self.push("[");
                self.list(items, Self::attribute);
                self.push("]");
            }
            Attr::DenseIntArray { element, values } => self.dense_array(*element, values),
            Attr::Dictionary(entries) => self.dictionary(entries),
            Attr::Type(ty) => self.ty(*ty),
            Attr::SymbolRef(path) => self.symbol_ref(path),
            Attr::Dense(dense) => self.dense(dense),
            Attr::Enum(kind, value) => {
                let text = format!("#stablehlo<{} {}>", module.names.get(*kind), module.names.get(*value));
                self.push(&text);
            }
            Attr::Loc(loc) => self.location(*loc),
            Attr::Opaque(text) => self.push(module.names.get(*text)),
            other => self.dialect_attribute(other),
        }
    }

    fn integer(&mut self, value: i128, ty: TypeId) {
        if matches!(self.module.types.get(ty), Type::Scalar(ElementType::Bool)) {
            return self.push(if value == 0 { "false" } else { "true" });
        }
        self.push(&value.to_string());
        self.push(" : ");
        self.ty(ty);
    }

    fn float(&mut self, bits: u64, ty: TypeId) {
        let Type::Scalar(element) = self.module.types.get(ty) else { return };
        self.push(&float::print(bits, *element));
        self.push(" : ");
        self.ty(ty);
    }

    /// A quoted string, escaped as LLVM escapes.
    pub(super) fn string(&mut self, bytes: &[u8]) {
        self.push("\"");
        for &byte in bytes {
            match byte {
                b'"' => self.push("\\22"),
                b'\\' => self.push("\\\\"),
                0x20..0x7f => self.out.push(char::from(byte)),
                _ => self.push(&format!("\\{byte:02X}")),
            }
        }
        self.push("\"");
    }

    pub(super) fn symbol_ref(&mut self, path: &[Symbol]) {
        for (index, symbol) in path.iter().enumerate() {
            if index > 0 {
                self.push("::");
            }
            self.symbol(self.module.names.get(*symbol));
        }
    }

    /// `@name`, quoted where it must be.
    pub(super) fn symbol(&mut self, name: &str) {
        self.push("@");
        if is_bare(name) {
            self.push(name);
        } else {
            self.string(name.as_bytes());
        }
    }

    fn dense_array(&mut self, element: TypeId, values: &[i64]) {
        self.push("array<");
        self.ty(element);
        let boolean = matches!(self.module.types.get(element), Type::Scalar(ElementType::Bool));
        if !values.is_empty() {
            self.push(": ");
        }
        self.list(values, |printer, value| {
            let text = match (boolean, value) {
                (true, 0) => "false".to_owned(),
                (true, _) => "true".to_owned(),
                _ => value.to_string(),
            };
            printer.push(&text);
        });
        self.push(">");
    }

    fn dense(&mut self, dense: &DenseElements) {
        self.dense_values(dense);
        self.push(" : ");
        self.ty(dense.ty);
    }

    fn dense_values(&mut self, dense: &DenseElements) {
        self.push("dense<");
        if let Some(tensor) = self.module.types.as_tensor(dense.ty).cloned() {
            let shape = tensor.static_shape().unwrap_or_default();
            let count = tensor.element_count().unwrap_or(0);
            if dense.splat {
                // A splat stands without brackets whatever its shape is.
                self.element(&dense.bytes, tensor.element);
            } else if count > MAX_LISTED_ELEMENTS {
                self.hex_blob(&dense.bytes, tensor.element);
            } else if count > 0 {
                self.elements(&dense.bytes, tensor.element, &shape);
            }
        }
        self.push(">");
    }

    /// Nested brackets; the shape is not empty and has no zero.
    fn elements(&mut self, bytes: &[u8], element: ElementType, shape: &[u64]) {
        let width = element.byte_width() as usize;
        let sizes: Vec<usize> = shape.iter().map(|s| *s as usize).collect();
        let count = bytes.len() / width;
        // Elements of one bracket at each depth.
        let spans: Vec<usize> = (0..sizes.len()).map(|d| sizes[d..].iter().product()).collect();
        for (index, chunk) in bytes.chunks_exact(width).enumerate() {
            if index > 0 {
                self.push(", ");
            }
            spans.iter().filter(|span| index % **span == 0).for_each(|_| self.out.push('['));
            self.element(chunk, element);
            let closes = spans.iter().filter(|span| (index + 1) % **span == 0).count();
            (0..closes).for_each(|_| self.out.push(']'));
        }
        debug_assert!(count > 0);
    }

    fn element(&mut self, bytes: &[u8], element: ElementType) {
        if element.is_complex() {
            let (re, im) = bytes.split_at(bytes.len() / 2);
            self.push("(");
            self.element(re, element.part());
            self.push(",");
            self.element(im, element.part());
            self.push(")");
            return;
        }
        let mut word = [0u8; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word);
        let text = match element {
            ElementType::Bool => if bits == 0 { "false" } else { "true" }.to_owned(),
            ElementType::Uint(_) => bits.to_string(),
            element if element.is_float() => float::print(bits, element),
            _ => {
                let shift = 64 - 8 * bytes.len() as u32;
                (((bits << shift) as i64) >> shift).to_string()
            }
        };
        self.push(&text);
    }

    fn hex_blob(&mut self, bytes: &[u8], element: ElementType) {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        let packed: Vec<u8>;
        let bytes = if element == ElementType::Bool {
            let pack =
                |chunk: &[u8]| chunk.iter().enumerate().fold(0u8, |byte, (i, bit)| byte | (bit & 1) << i);
            packed = bytes.chunks(8).map(pack).collect();
            &packed
        } else {
            bytes
        };
        self.push("\"0x");
        self.out.reserve(bytes.len() * 2);
        for byte in bytes {
            self.out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            self.out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        self.push("\"");
    }

    /// Attributes of the StableHLO dialect with fields; empty lists are left out.
    fn dialect_attribute(&mut self, attr: &Attr) {
        let module = self.module;
        let type_name = |ty: TypeId| super::type_text(module, ty);
        match attr {
            Attr::DotDims(dims) => {
                let fields = [
                    ("lhs_batching_dimensions", &dims.lhs_batching),
                    ("rhs_batching_dimensions", &dims.rhs_batching),
                    ("lhs_contracting_dimensions", &dims.lhs_contracting),
                    ("rhs_contracting_dimensions", &dims.rhs_contracting),
                ];
                self.fields("dot", &fields, &[]);
            }
            Attr::GatherDims(dims) => {
                let fields = [
                    ("offset_dims", &dims.offset_dims),
                    ("collapsed_slice_dims", &dims.collapsed_slice_dims),
                    ("operand_batching_dims", &dims.operand_batching_dims),
                    ("start_indices_batching_dims", &dims.start_indices_batching_dims),
                    ("start_index_map", &dims.start_index_map),
                ];
                self.fields("gather", &fields, &nonzero("index_vector_dim", dims.index_vector_dim));
            }
            Attr::ScatterDims(dims) => {
                let fields = [
                    ("update_window_dims", &dims.update_window_dims),
                    ("inserted_window_dims", &dims.inserted_window_dims),
                    ("input_batching_dims", &dims.input_batching_dims),
                    ("scatter_indices_batching_dims", &dims.scatter_indices_batching_dims),
                    ("scatter_dims_to_operand_dims", &dims.scatter_dims_to_operand_dims),
                ];
                self.fields("scatter", &fields, &nonzero("index_vector_dim", dims.index_vector_dim));
            }
            Attr::ConvDims(dims) => {
                self.push("#stablehlo.conv<");
                self.conv_dims(dims);
                self.push(">");
            }
            Attr::DotAlgorithm(a) => {
                let scalars = [
                    ("lhs_precision_type", type_name(a.lhs_precision_type)),
                    ("rhs_precision_type", type_name(a.rhs_precision_type)),
                    ("accumulation_type", type_name(a.accumulation_type)),
                    ("lhs_component_count", a.lhs_component_count.to_string()),
                    ("rhs_component_count", a.rhs_component_count.to_string()),
                    ("num_primitive_operations", a.num_primitive_operations.to_string()),
                    ("allow_imprecise_accumulation", a.allow_imprecise_accumulation.to_string()),
                ];
                self.fields("dot_algorithm", &[], &scalars);
            }
            Attr::OutputAlias(alias) => self.output_alias(alias),
            Attr::ChannelHandle { handle, ty } => {
                let scalars = [("handle", handle.to_string()), ("type", ty.to_string())];
                self.fields("channel_handle", &[], &scalars);
            }
            Attr::Bounds(bounds) => {
                self.push("#stablehlo.bounds<");
                self.list(bounds, |printer, bound| {
                    let text = bound.map_or_else(|| "?".to_owned(), |b| b.to_string());
                    printer.push(&text);
                });
                self.push(">");
            }
            _ => {}
        }
    }

    fn fields(&mut self, name: &str, lists: &[(&str, &Vec<i64>)], scalars: &[(&str, String)]) {
        self.push("#stablehlo.");
        self.push(name);
        self.push("<");
        let mut first = true;
        let mut separate = |printer: &mut Self| {
            if !std::mem::take(&mut first) {
                printer.push(", ");
            }
        };
        for (key, values) in lists.iter().filter(|(_, values)| !values.is_empty()) {
            separate(self);
            self.push(key);
            self.push(" = ");
            self.integers(values);
        }
        for (key, value) in scalars {
            separate(self);
            self.push(key);
            self.push(" = ");
            self.push(value);
        }
        self.push(">");
    }

    fn output_alias(&mut self, alias: &OutputAlias) {
        self.push("#stablehlo.output_operand_alias<output_tuple_indices = ");
        self.integers(&alias.output_tuple_indices);
        self.push(&format!(", operand_index = {}, operand_tuple_indices = ", alias.operand_index));
        self.integers(&alias.operand_tuple_indices);
        self.push(">");
    }

    /// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
    pub(super) fn conv_dims(&mut self, dims: &ConvDims) {
        let labels = |pairs: [(i64, &str); 2], spatial: &[i64]| {
            let mut labels: Vec<(i64, String)> =
                pairs.iter().map(|(place, label)| (*place, (*label).to_owned())).collect();
            labels.extend(spatial.iter().enumerate().map(|(index, place)| (*place, index.to_string())));
            labels.sort();
            let labels: Vec<String> = labels.into_iter().map(|(_, label)| label).collect();
            format!("[{}]", labels.join(", "))
        };
        let input = labels([(dims.input_batch, "b"), (dims.input_feature, "f")], &dims.input_spatial);
        let kernel = labels(
            [(dims.kernel_input_feature, "i"), (dims.kernel_output_feature, "o")],
            &dims.kernel_spatial,
        );
        let output = labels([(dims.output_batch, "b"), (dims.output_feature, "f")], &dims.output_spatial);
        self.push(&format!("{input}x{kernel}->{output}"));
    }

    /// `loc(…)`.
    pub(super) fn location(&mut self, loc: LocId) {
        self.push("loc(");
        self.location_inside(loc);
        self.push(")");
    }

    fn location_inside(&mut self, loc: LocId) {
        let module = self.module;
        match module.locs.get(loc) {
            Loc::Unknown => self.push("unknown"),
            Loc::File { file, line, column } => {
                self.string(module.names.get(*file).as_bytes());
                self.push(&format!(":{line}:{column}"));
            }
            Loc::FileRange { file, start, end } => {
                self.string(module.names.get(*file).as_bytes());
                let line = end.0.map(|line| line.to_string()).unwrap_or_default();
                self.push(&format!(":{}:{} to {line}:{}", start.0, start.1, end.1));
            }
            Loc::Name { name, child } => {
                self.string(module.names.get(*name).as_bytes());
                if *child != LocId::unknown() {
                    self.push("(");
                    self.location_inside(*child);
                    self.push(")");
                }
            }
            Loc::CallSite { callee, caller } => {
                self.push("callsite(");
                self.location_inside(*callee);
                self.push(" at ");
                self.location_inside(*caller);
                self.push(")");
            }
            Loc::Fused { parts, metadata } => {
                self.push("fused");
                if let Some(metadata) = metadata {
                    self.push("<");
                    self.attribute(*metadata);
                    self.push(">");
                }
                self.push("[");
                self.list(parts, Self::location_inside);
                self.push("]");
            }
        }
    }
}

fn nonzero(key: &'static str, value: i64) -> Vec<(&'static str, String)> {
    if value == 0 { Vec::new() } else { vec![(key, value.to_string())] }
}

/// Whether a name needs no quotes.
fn is_bare(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'))
}
