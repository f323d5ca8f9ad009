//! Reading attributes.

use super::cursor::Read;
use super::literal;
use super::operations::Reader;
use crate::{
    Attr, AttrId, ConvDims, Diagnostic, DotAlgorithm, DotDims, ElementType, GatherDims, OutputAlias,
    ScatterDims, Symbol, Type, TypeId,
};

/// A named attribute as read.
pub(super) type Entry = (Symbol, AttrId);

impl Reader<'_> {
    /// An attribute.
    pub(super) fn attribute(&mut self) -> Read<AttrId> {
        self.nested(Self::attribute_inside)
    }

    fn attribute_inside(&mut self) -> Read<AttrId> {
        let attr = match self.cursor.peek() {
            Some(b'"') => self.string_attribute()?,
            Some(b'[') => self.array_attribute()?,
            Some(b'{') => Attr::Dictionary(self.dictionary()?),
            Some(b'@') => Attr::SymbolRef(self.symbol_path()?),
            Some(b'#') => return self.hash_attribute(),
            Some(b'-' | b'0'..=b'9') => self.number_attribute()?,
            _ => return self.word_attribute(),
        };
        Ok(self.module.attrs.intern(attr))
    }

    fn string_attribute(&mut self) -> Read<Attr> {
        let bytes = self.cursor.string()?.into();
        if self.cursor.looking_at(":") && !self.cursor.looking_at("::") {
            self.cursor.expect(":")?;
            return Ok(Attr::TypedString(bytes, self.ty()?));
        }
        Ok(Attr::String(bytes))
    }

    fn array_attribute(&mut self) -> Read<Attr> {
        self.cursor.expect("[")?;
        let mut items = Vec::new();
        if !self.cursor.eat("]") {
            self.list("]", |reader| {
                items.push(reader.attribute()?);
                Ok(())
            })?;
        }
        Ok(Attr::Array(items))
    }

    /// `{name = value, name, "quoted" = value}`, sorted by name.
    pub(super) fn dictionary(&mut self) -> Read<Vec<Entry>> {
        self.cursor.expect("{")?;
        let mut entries: Vec<Entry> = Vec::new();
        if self.cursor.eat("}") {
            return Ok(entries);
        }
        self.list("}", |reader| {
            let at = reader.cursor.here();
            let name = match reader.cursor.peek() {
                Some(b'"') => String::from_utf8_lossy(&reader.cursor.string()?).into_owned(),
                _ => match reader.cursor.identifier() {
                    Some(name) => name.to_owned(),
                    None => return Err(reader.cursor.expected("an attribute name")),
                },
            };
            let value = if reader.cursor.eat("=") {
                reader.attribute()?
            } else {
                reader.module.attrs.intern(Attr::Unit)
            };
            let symbol = reader.module.names.intern(&name);
            if entries.iter().any(|(known, _)| *known == symbol) {
                return Err(Diagnostic::invalid(at, format!("attribute '{name}' occurs twice")));
            }
            entries.push((symbol, value));
            Ok(())
        })?;
        let names = &self.module.names;
        entries.sort_by(|a, b| names.get(a.0).cmp(names.get(b.0)));
        Ok(entries)
    }

    /// `{…}` if it is next.
    pub(super) fn optional_dictionary(&mut self) -> Read<Vec<Entry>> {
        if self.cursor.peek() == Some(b'{') { self.dictionary() } else { Ok(Vec::new()) }
    }

    pub(super) fn symbol_path(&mut self) -> Read<Vec<Symbol>> {
        let mut path = Vec::new();
        loop {
            let name = self.cursor.symbol_name()?;
            path.push(self.module.names.intern(&name));
            if !self.cursor.eat("::") {
                return Ok(path);
            }
        }
    }

    fn number_attribute(&mut self) -> Read<Attr> {
        let start = self.cursor.here();
        let text = self.cursor.number().ok_or_else(|| self.cursor.expected("a number"))?;
        let is_float = text.contains('.');
        let ty = if self.cursor.eat(":") {
            self.ty()?
        } else {
            let element = if is_float { ElementType::F64 } else { ElementType::Int(64) };
            self.module.types.intern(Type::Scalar(element))
        };
        let element = match self.module.types.get(ty) {
            Type::Scalar(element) if !element.is_complex() => *element,
            _ => {
                return Err(Diagnostic::invalid(start, "a number has an integer or floating-point type"));
            }
        };
        if element == ElementType::Bool {
            let bits = literal::integer_bits(text, element).map_err(|why| Diagnostic::invalid(start, why))?;
            return Ok(Attr::Bool(bits != 0));
        }
        if element.is_float() {
            let bits = literal::float_bits(text, element).map_err(|why| Diagnostic::invalid(start, why))?;
            return Ok(Attr::Float { bits, ty });
        }
        let bits = literal::integer_bits(text, element).map_err(|why| Diagnostic::invalid(start, why))?;
        let value = match element {
            ElementType::Uint(_) => i128::from(bits),
            _ => i128::from(bits as i64),
        };
        Ok(Attr::Int { value, ty })
    }

    /// `dense<…>`, `array<…>`, `true`, `unit`, `loc(…)`, affine maps, types.
    fn word_attribute(&mut self) -> Read<AttrId> {
        let start = self.cursor.here();
        let attr = if self.cursor.eat_word("dense") {
            self.dense()?
        } else if self.cursor.eat_word("array") {
            self.dense_array()?
        } else if self.cursor.eat_word("true") {
            Attr::Bool(true)
        } else if self.cursor.eat_word("false") {
            Attr::Bool(false)
        } else if self.cursor.eat_word("unit") {
            Attr::Unit
        } else if self.cursor.looking_at("loc(") {
            Attr::Loc(self.location()?)
        } else if let Some(attr) = self.bracketed_word(start)? {
            attr
        } else {
            Attr::Type(self.ty()?)
        };
        Ok(self.module.attrs.intern(attr))
    }

    /// `affine_map<…>`, `dense_resource<…>` and others that are kept as text.
    fn bracketed_word(&mut self, start: usize) -> Read<Option<Attr>> {
        const KEPT: [&str; 6] =
            ["affine_map", "affine_set", "dense_resource", "sparse", "strided", "distinct"];
        let before = self.cursor;
        let known = self.cursor.identifier().is_some_and(|word| KEPT.contains(&word));
        if !known {
            self.cursor = before;
            return Ok(None);
        }
        if self.cursor.eat("[") {
            self.cursor.balanced(b'[')?;
        }
        self.cursor.expect("<")?;
        self.cursor.balanced(b'<')?;
        if self.cursor.eat(":") {
            self.ty()?;
        }
        let text = &self.cursor.text[start..self.cursor.at];
        Ok(Some(Attr::Opaque(self.module.names.intern(text))))
    }

    fn dense_array(&mut self) -> Read<Attr> {
        self.cursor.expect("<")?;
        let element = self.ty()?;
        let mut values = Vec::new();
        if self.cursor.eat(":") && !self.cursor.eat(">") {
            self.list(">", |reader| {
                let value = if reader.cursor.eat_word("true") {
                    1
                } else if reader.cursor.eat_word("false") {
                    0
                } else {
                    reader.cursor.integer()?
                };
                values.push(value);
                Ok(())
            })?;
        } else if values.is_empty() && !self.cursor.text[..self.cursor.at].ends_with('>') {
            self.cursor.expect(">")?;
        }
        Ok(Attr::DenseIntArray { element, values })
    }

    /// `#alias`, `#dialect.name<…>` or `#dialect<…>`.
    fn hash_attribute(&mut self) -> Read<AttrId> {
        let start = self.cursor.here();
        let Some(name) = self.cursor.sigil_name(b'#') else {
            return Err(self.cursor.expected("an attribute"));
        };
        let body = self.cursor.text[self.cursor.at..].starts_with('<');
        if !body {
            if let Some(attr) = self.attr_aliases.get(name) {
                return Ok(*attr);
            }
            if !name.contains('.') {
                return Err(Diagnostic::invalid(start, format!("undefined attribute alias '#{name}'")));
            }
        }
        let attr = match name {
            "stablehlo" | "chlo" if body => self.enum_attribute()?,
            "stablehlo.dot" | "chlo.ragged_dot" if body && name == "stablehlo.dot" => self.dot_dims()?,
            "stablehlo.gather" => self.gather_dims()?,
            "stablehlo.scatter" => self.scatter_dims()?,
            "stablehlo.conv" => {
                self.cursor.expect("<")?;
                if self.cursor.eat_word("raw") {
                    Attr::ConvDims(self.raw_conv_dims()?)
                } else {
                    let dims = self.conv_dims()?;
                    self.cursor.expect(">")?;
                    Attr::ConvDims(dims)
                }
            }
            "stablehlo.dot_algorithm" => self.dot_algorithm()?,
            "stablehlo.output_operand_alias" => self.output_alias()?,
            "stablehlo.channel_handle" => self.channel_handle()?,
            "stablehlo.bounds" => self.bounds()?,
            "stablehlo.type_extensions" => self.type_extensions()?,
            _ => {
                if body {
                    self.cursor.at += 1;
                    self.cursor.balanced(b'<')?;
                }
                Attr::Opaque(self.module.names.intern(&self.cursor.text[start..self.cursor.at]))
            }
        };
        Ok(self.module.attrs.intern(attr))
    }

    /// After `#stablehlo`: `<precision DEFAULT>`.
    fn enum_attribute(&mut self) -> Read<Attr> {
        self.cursor.expect("<")?;
        let kind = self.cursor.identifier().ok_or_else(|| self.cursor.expected("an enumeration"))?;
        let value = self.cursor.identifier().ok_or_else(|| self.cursor.expected("a value"))?;
        self.cursor.expect(">")?;
        Ok(Attr::Enum(self.module.names.intern(kind), self.module.names.intern(value)))
    }

    /// `[1, 2]`.
    pub(super) fn integers(&mut self) -> Read<Vec<i64>> {
        self.cursor.expect("[")?;
        let mut values = Vec::new();
        if !self.cursor.eat("]") {
            self.list("]", |reader| {
                values.push(reader.cursor.integer()?);
                Ok(())
            })?;
        }
        Ok(values)
    }

    /// `<key = value, …>`; `field` reads the value of a key it knows.
    pub(super) fn fields(&mut self, field: impl FnMut(&mut Self, &str) -> Read<bool>) -> Read<()> {
        self.cursor.expect("<")?;
        self.fields_inside(field)
    }

    /// The same after the `<`. Each key once; a comma may stand after the last.
    fn fields_inside(&mut self, mut field: impl FnMut(&mut Self, &str) -> Read<bool>) -> Read<()> {
        let mut seen = Vec::new();
        while !self.cursor.eat(">") {
            let at = self.cursor.here();
            let key = self.cursor.identifier().ok_or_else(|| self.cursor.expected("a field name"))?;
            if seen.contains(&key) {
                return Err(Diagnostic::invalid(at, format!("duplicated `{key}` entry")));
            }
            seen.push(key);
            self.cursor.expect("=")?;
            if !field(self, key)? {
                return Err(Diagnostic::invalid(at, format!("unknown field '{key}'")));
            }
            if !self.cursor.eat(",") {
                return self.cursor.expect(">");
            }
        }
        Ok(())
    }

    fn dot_dims(&mut self) -> Read<Attr> {
        let mut dims = DotDims::default();
        self.fields(|reader, key| {
            let field = match key {
                "lhs_batching_dimensions" => &mut dims.lhs_batching,
                "rhs_batching_dimensions" => &mut dims.rhs_batching,
                "lhs_contracting_dimensions" => &mut dims.lhs_contracting,
                "rhs_contracting_dimensions" => &mut dims.rhs_contracting,
                _ => return Ok(false),
            };
            *field = reader.integers()?;
            Ok(true)
        })?;
        Ok(Attr::DotDims(dims))
    }

    fn gather_dims(&mut self) -> Read<Attr> {
        let mut dims = GatherDims::default();
        self.fields(|reader, key| {
            let field = match key {
                "offset_dims" => &mut dims.offset_dims,
                "collapsed_slice_dims" => &mut dims.collapsed_slice_dims,
                "operand_batching_dims" => &mut dims.operand_batching_dims,
                "start_indices_batching_dims" => &mut dims.start_indices_batching_dims,
                "start_index_map" => &mut dims.start_index_map,
                "index_vector_dim" => {
                    dims.index_vector_dim = reader.cursor.integer()?;
                    return Ok(true);
                }
                _ => return Ok(false),
            };
            *field = reader.integers()?;
            Ok(true)
        })?;
        Ok(Attr::GatherDims(dims))
    }

    fn scatter_dims(&mut self) -> Read<Attr> {
        let mut dims = ScatterDims::default();
        self.fields(|reader, key| {
            let field = match key {
                "update_window_dims" => &mut dims.update_window_dims,
                "inserted_window_dims" => &mut dims.inserted_window_dims,
                "input_batching_dims" => &mut dims.input_batching_dims,
                "scatter_indices_batching_dims" => &mut dims.scatter_indices_batching_dims,
                "scatter_dims_to_operand_dims" => &mut dims.scatter_dims_to_operand_dims,
                "index_vector_dim" => {
                    dims.index_vector_dim = reader.cursor.integer()?;
                    return Ok(true);
                }
                _ => return Ok(false),
            };
            *field = reader.integers()?;
            Ok(true)
        })?;
        Ok(Attr::ScatterDims(dims))
    }

    /// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
    pub(super) fn conv_dims(&mut self) -> Read<ConvDims> {
        let mut dims = ConvDims::default();
        let (batch, feature, spatial) = self.conv_labels('b', 'f')?;
        (dims.input_batch, dims.input_feature, dims.input_spatial) = (batch, feature, spatial);
        self.cursor.expect("x")?;
        let (output, input, spatial) = self.conv_labels('o', 'i')?;
        (dims.kernel_output_feature, dims.kernel_input_feature, dims.kernel_spatial) =
            (output, input, spatial);
        self.cursor.expect("->")?;
        let (batch, feature, spatial) = self.conv_labels('b', 'f')?;
        (dims.output_batch, dims.output_feature, dims.output_spatial) = (batch, feature, spatial);
        Ok(dims)
    }

    /// After `raw`: the dimensions by name, which need not be a permutation.
    fn raw_conv_dims(&mut self) -> Read<ConvDims> {
        let mut dims = ConvDims::default();
        self.fields_inside(|reader, key| {
            let list = match key {
                "input_spatial_dimensions" => &mut dims.input_spatial,
                "kernel_spatial_dimensions" => &mut dims.kernel_spatial,
                "output_spatial_dimensions" => &mut dims.output_spatial,
                _ => {
                    let place = match key {
                        "input_batch_dimension" => &mut dims.input_batch,
                        "input_feature_dimension" => &mut dims.input_feature,
                        "kernel_input_feature_dimension" => &mut dims.kernel_input_feature,
                        "kernel_output_feature_dimension" => &mut dims.kernel_output_feature,
                        "output_batch_dimension" => &mut dims.output_batch,
                        "output_feature_dimension" => &mut dims.output_feature,
                        _ => return Ok(false),
                    };
                    *place = reader.cursor.integer()?;
                    return Ok(true);
                }
            };
            *list = reader.integers()?;
            Ok(true)
        })?;
        Ok(dims)
    }

    /// One bracket: the places of two letters and of the numbers in order.
    fn conv_labels(&mut self, first: char, second: char) -> Read<(i64, i64, Vec<i64>)> {
        let start = self.cursor.here();
        let (mut a, mut b) = (None, None);
        let mut spatial: Vec<Option<i64>> = Vec::new();
        let mut place = 0;
        self.cursor.expect("[")?;
        self.list("]", |reader| {
            let at = reader.cursor.here();
            let twice = |what: &str| Err(Diagnostic::invalid(at, format!("duplicate entries for {what}")));
            if reader.cursor.eat_word(&first.to_string()) {
                if a.replace(place).is_some() {
                    return twice(&format!("dimension {first}"));
                }
            } else if reader.cursor.eat_word(&second.to_string()) {
                if b.replace(place).is_some() {
                    return twice(&format!("dimension {second}"));
                }
            } else if reader.cursor.eat("?") {
                spatial.push(Some(place));
            } else {
                let index = usize::try_from(reader.cursor.integer()?).unwrap_or(usize::MAX);
                if index > 1024 {
                    return Err(Diagnostic::invalid(at, "no such spatial dimension"));
                }
                if spatial.len() <= index {
                    spatial.resize(index + 1, None);
                }
                if spatial[index].replace(place).is_some() {
                    return twice(&format!("spatial dimension {index}"));
                }
            }
            place += 1;
            Ok(())
        })?;
        let spatial: Option<Vec<i64>> = spatial.into_iter().collect();
        match (a, b, spatial) {
            (Some(a), Some(b), Some(spatial)) => Ok((a, b, spatial)),
            _ => {
                let message = format!("expected '{first}', '{second}' and every spatial dimension once");
                Err(Diagnostic::invalid(start, message))
            }
        }
    }

    pub(super) fn dot_algorithm(&mut self) -> Read<Attr> {
        let none = self.module.types.intern(Type::None);
        let mut algorithm = DotAlgorithm {
            lhs_precision_type: none,
            rhs_precision_type: none,
            accumulation_type: none,
            lhs_component_count: 0,
            rhs_component_count: 0,
            num_primitive_operations: 0,
            allow_imprecise_accumulation: false,
        };
        self.fields(|reader, key| {
            let ty: Option<&mut TypeId> = match key {
                "lhs_precision_type" => Some(&mut algorithm.lhs_precision_type),
                "rhs_precision_type" => Some(&mut algorithm.rhs_precision_type),
                "accumulation_type" => Some(&mut algorithm.accumulation_type),
                _ => None,
            };
            if let Some(slot) = ty {
                *slot = reader.ty()?;
                return Ok(true);
            }
            if key == "allow_imprecise_accumulation" {
                algorithm.allow_imprecise_accumulation = reader.cursor.eat_word("true");
                if !algorithm.allow_imprecise_accumulation {
                    reader.cursor.expect_word("false")?;
                }
                return Ok(true);
            }
            let slot = match key {
                "lhs_component_count" => &mut algorithm.lhs_component_count,
                "rhs_component_count" => &mut algorithm.rhs_component_count,
                "num_primitive_operations" => &mut algorithm.num_primitive_operations,
                _ => return Ok(false),
            };
            *slot = reader.cursor.integer()?;
            Ok(true)
        })?;
        Ok(Attr::DotAlgorithm(algorithm))
    }

    fn output_alias(&mut self) -> Read<Attr> {
        let mut alias = OutputAlias {
            output_tuple_indices: Vec::new(),
            operand_index: 0,
            operand_tuple_indices: Vec::new(),
        };
        self.fields(|reader, key| {
            match key {
                "output_tuple_indices" => alias.output_tuple_indices = reader.integers()?,
                "operand_index" => alias.operand_index = reader.cursor.integer()?,
                "operand_tuple_indices" => alias.operand_tuple_indices = reader.integers()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(Attr::OutputAlias(alias))
    }

    fn channel_handle(&mut self) -> Read<Attr> {
        let (mut handle, mut ty) = (0, 0);
        self.fields(|reader, key| {
            match key {
                "handle" => handle = reader.cursor.integer()?,
                "type" => ty = reader.cursor.integer()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(Attr::ChannelHandle { handle, ty })
    }

    /// The older way to write bounds: `<bounds = [4, ?]>`.
    fn type_extensions(&mut self) -> Read<Attr> {
        self.cursor.expect("<")?;
        self.cursor.expect_word("bounds")?;
        self.cursor.expect("=")?;
        let bounds = self.bounds_between("[", "]")?;
        self.cursor.expect(">")?;
        Ok(bounds)
    }

    fn bounds(&mut self) -> Read<Attr> {
        self.bounds_between("<", ">")
    }

    fn bounds_between(&mut self, open: &str, close: &str) -> Read<Attr> {
        self.cursor.expect(open)?;
        let mut bounds = Vec::new();
        if self.cursor.eat(close) {
            return Ok(Attr::Bounds(bounds));
        }
        self.list(close, |reader| {
            let bound = if reader.cursor.eat("?") { None } else { Some(reader.cursor.integer()?) };
            bounds.push(bound);
            Ok(())
        })?;
        Ok(Attr::Bounds(bounds))
    }
}
