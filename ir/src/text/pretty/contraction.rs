//! Dots and convolutions.

use crate::text::cursor::Read;
use crate::text::operations::{Parts, Reader};
use crate::{Attr, AttrId, Diagnostic, DotDims, ElementType, OpId, OpKind};

impl<'t> Reader<'t> {
    /// `[DEFAULT, HIGHEST]`.
    fn precisions(&mut self) -> Read<AttrId> {
        self.cursor.expect("[")?;
        let mut items = Vec::new();
        if !self.cursor.eat("]") {
            self.list("]", |reader| {
                let name = reader.cursor.identifier().ok_or_else(|| reader.cursor.expected("a precision"))?;
                items.push(reader.enumerated("precision", name));
                Ok(())
            })?;
        }
        Ok(self.module.attrs.intern(Attr::Array(items)))
    }

    /// `[0, 1] x [0, 1]`.
    fn dimension_pairs(&mut self) -> Read<(Vec<i64>, Vec<i64>)> {
        let lhs = self.integers()?;
        self.cursor.expect("x")?;
        Ok((lhs, self.integers()?))
    }

    /// `%a, %b, precision = […] : (types) -> type`.
    pub(super) fn dot(&mut self) -> Read<OpId> {
        let uses = self.value_uses()?;
        let mut parts = Parts::default();
        if self.cursor.eat(",") {
            self.cursor.expect_word("precision")?;
            self.cursor.expect("=")?;
            let precisions = self.precisions()?;
            self.property(&mut parts, "precision_config", precisions);
        }
        parts.attributes = self.optional_dictionary()?;
        self.function_signature(&uses, &mut parts)?;
        self.create(OpKind::Dot, OpKind::Dot.name(), parts)
    }

    /// `%a, %b, batching_dims = […] x […], contracting_dims = […] x […],
    /// precision = […], algorithm = <…> : (types) -> type`.
    pub(super) fn dot_general(&mut self) -> Read<OpId> {
        let uses = self.value_uses()?;
        let mut parts = Parts::default();
        let mut dims = DotDims::default();
        while self.cursor.eat(",") {
            let at = self.cursor.here();
            let keyword = self.cursor.identifier().unwrap_or_default();
            self.cursor.expect("=")?;
            match keyword {
                "batching_dims" => (dims.lhs_batching, dims.rhs_batching) = self.dimension_pairs()?,
                "contracting_dims" => {
                    (dims.lhs_contracting, dims.rhs_contracting) = self.dimension_pairs()?
                }
                "precision" => {
                    let precisions = self.precisions()?;
                    self.property(&mut parts, "precision_config", precisions);
                }
                "algorithm" => {
                    let algorithm = self.dot_algorithm()?;
                    let algorithm = self.module.attrs.intern(algorithm);
                    self.property(&mut parts, "algorithm", algorithm);
                }
                _ => return Err(Diagnostic::invalid(at, format!("unknown clause '{keyword}'"))),
            }
        }
        let dims = self.module.attrs.intern(Attr::DotDims(dims));
        self.property(&mut parts, "dot_dimension_numbers", dims);
        parts.attributes = self.optional_dictionary()?;
        self.function_signature(&uses, &mut parts)?;
        self.create(OpKind::DotGeneral, OpKind::DotGeneral.name(), parts)
    }

    /// `(%a, %b) dim_numbers = …, window = {…} {…} : (types) -> type`.
    pub(super) fn convolution(&mut self) -> Read<OpId> {
        let mut parts = Parts::default();
        self.cursor.expect("(")?;
        let uses = self.value_uses()?;
        self.cursor.expect(")")?;
        self.cursor.expect_word("dim_numbers")?;
        self.cursor.expect("=")?;
        let dims = self.conv_dims()?;
        let dims = self.module.attrs.intern(Attr::ConvDims(dims));
        self.property(&mut parts, "dimension_numbers", dims);
        self.cursor.expect(",")?;
        self.cursor.expect_word("window")?;
        self.cursor.expect("=")?;
        self.cursor.expect("{")?;
        if !self.cursor.eat("}") {
            let mut seen = Vec::new();
            self.list("}", |reader| reader.window_field(&mut seen, &mut parts))?;
        }
        parts.attributes = self.optional_dictionary()?;
        self.function_signature(&uses, &mut parts)?;
        self.create(OpKind::Convolution, OpKind::Convolution.name(), parts)
    }

    fn window_field(&mut self, seen: &mut Vec<&'t str>, parts: &mut Parts) -> Read<()> {
        let at = self.cursor.here();
        let keyword = self.cursor.identifier().unwrap_or_default();
        if seen.contains(&keyword) {
            return Err(Diagnostic::invalid(at, format!("window field '{keyword}' is given twice")));
        }
        seen.push(keyword);
        self.cursor.expect("=")?;
        let name = match keyword {
            "stride" => "window_strides",
            "lhs_dilate" => "lhs_dilation",
            "rhs_dilate" => "rhs_dilation",
            "pad" => {
                let padding = self.padding()?;
                self.property(parts, "padding", padding);
                return Ok(());
            }
            "reverse" => {
                let reversal = self.reversal()?;
                self.property(parts, "window_reversal", reversal);
                return Ok(());
            }
            _ => return Err(Diagnostic::invalid(at, format!("unknown window field '{keyword}'"))),
        };
        let values = self.integers()?;
        let attr = self.int_array(values);
        self.property(parts, name, attr);
        Ok(())
    }

    /// `[[1, 1], [1, 1]]` as `dense<…> : tensor<Nx2xi64>`.
    fn padding(&mut self) -> Read<AttrId> {
        let mut pairs: Vec<i64> = Vec::new();
        self.cursor.expect("[")?;
        if !self.cursor.eat("]") {
            self.list("]", |reader| {
                let at = reader.cursor.here();
                let pair = reader.integers()?;
                if pair.len() != 2 {
                    return Err(Diagnostic::invalid(at, "padding is a pair of numbers"));
                }
                pairs.extend(pair);
                Ok(())
            })?;
        }
        let ty = self.module.types.tensor(&[pairs.len() as u64 / 2, 2], ElementType::Int(64));
        let splat = pairs.first().is_some_and(|first| pairs.iter().all(|p| p == first));
        let kept = if splat { &pairs[..1] } else { &pairs[..] };
        let bytes: Vec<u8> = kept.iter().flat_map(|p| p.to_le_bytes()).collect();
        let dense = crate::DenseElements { ty, bytes: bytes.into(), splat };
        Ok(self.module.attrs.intern(Attr::Dense(dense)))
    }

    /// `[true, false]`, numbers in older texts.
    fn reversal(&mut self) -> Read<AttrId> {
        let mut values = Vec::new();
        self.cursor.expect("[")?;
        if !self.cursor.eat("]") {
            self.list("]", |reader| {
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
        }
        let element = self.scalar(ElementType::Bool);
        Ok(self.module.attrs.intern(Attr::DenseIntArray { element, values }))
    }
}
