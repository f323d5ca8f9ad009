//! Reading types.

use super::MAX_NESTING;
use super::cursor::Read;
use super::float;
use super::operations::Reader;
use crate::{Diagnostic, Dim, ElementType, TensorType, Type, TypeId};

/// A quantised type's text with its scales as MLIR prints them, so that one
/// type has one text.
fn with_plain_scales(text: &str) -> String {
    let is_numeral = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-' | '_');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_numeral) {
        let length = rest[start..].find(|c| !is_numeral(c)).unwrap_or(rest.len() - start);
        let (before, word) = (&rest[..start], &rest[start..start + length]);
        out.push_str(before);
        let is_scale = word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
        match float::parse(word, ElementType::F64).filter(|_| is_scale) {
            Some(bits) => out.push_str(&float::print(bits, ElementType::F64)),
            None => out.push_str(word),
        }
        rest = &rest[start + length..];
    }
    out + rest
}

/// Dimensions that a tensor may have. Enough for anything that was ever
/// printed, and small enough that a hostile type stays small.
const MAX_RANK: usize = 1024;

impl Reader<'_> {
    /// A type.
    pub(super) fn ty(&mut self) -> Read<TypeId> {
        self.nested(Self::ty_inside)
    }

    fn ty_inside(&mut self) -> Read<TypeId> {
        match self.cursor.peek() {
            Some(b'(') => self.function_type(),
            Some(b'!') => self.dialect_type(),
            _ => self.named_type(),
        }
    }

    /// Counts one level of nesting while `inside` reads.
    pub(super) fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_NESTING {
            let at = self.cursor.here();
            return Err(Diagnostic::limit(at, format!("more than {MAX_NESTING} levels of nesting")));
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    fn named_type(&mut self) -> Read<TypeId> {
        let start = self.cursor.here();
        let Some(name) = self.cursor.identifier() else {
            return Err(self.cursor.expected("a type"));
        };
        let ty = match name {
            "tensor" => return self.tensor_type(start),
            "tuple" => {
                self.cursor.expect("<")?;
                let mut parts = Vec::new();
                if !self.cursor.eat(">") {
                    self.list(">", |reader| {
                        parts.push(reader.ty()?);
                        Ok(())
                    })?;
                }
                Type::Tuple(parts)
            }
            "none" => Type::None,
            "complex" => Type::Scalar(self.complex(start)?),
            "vector" | "memref" => {
                self.cursor.expect("<")?;
                self.cursor.balanced(b'<')?;
                return Ok(self.opaque_type(start));
            }
            name => match ElementType::from_name(name) {
                Some(element) => Type::Scalar(element),
                None => return Err(Diagnostic::invalid(start, format!("unknown type '{name}'"))),
            },
        };
        Ok(self.module.types.intern(ty))
    }

    fn complex(&mut self, start: usize) -> Read<ElementType> {
        self.cursor.expect("<")?;
        let part = self.cursor.identifier();
        self.cursor.expect(">")?;
        match part {
            Some("f32") => Ok(ElementType::Complex64),
            Some("f64") => Ok(ElementType::Complex128),
            _ => Err(Diagnostic::invalid(start, "complex types are complex<f32> and complex<f64>")),
        }
    }

    /// The type from `start` to here, as its text.
    fn opaque_type(&mut self, start: usize) -> TypeId {
        let text = &self.cursor.text[start..self.cursor.at];
        let symbol = if text.contains("!quant.") {
            self.module.names.intern(&with_plain_scales(text))
        } else {
            self.module.names.intern(text)
        };
        self.module.types.intern(Type::Opaque(symbol))
    }

    fn dialect_type(&mut self) -> Read<TypeId> {
        let start = self.cursor.here();
        let Some(name) = self.cursor.sigil_name(b'!') else {
            return Err(self.cursor.expected("a type"));
        };
        if name == "stablehlo.token" {
            return Ok(self.module.types.intern(Type::Token));
        }
        if let Some(ty) = self.type_aliases.get(name) {
            return Ok(*ty);
        }
        if let Some(own) = name.strip_prefix("stablehlo.").filter(|own| *own != "future") {
            return Err(Diagnostic::invalid(start, format!("unknown stablehlo type: {own}")));
        }
        if self.cursor.text[self.cursor.at..].starts_with('<') {
            self.cursor.at += 1;
            self.cursor.balanced(b'<')?;
        } else if !name.contains('.') {
            return Err(Diagnostic::invalid(start, format!("undefined type alias '!{name}'")));
        }
        Ok(self.opaque_type(start))
    }

    /// `(…) -> …`.
    pub(super) fn function_type(&mut self) -> Read<TypeId> {
        let inputs = self.type_list_in_parens()?;
        self.cursor.expect("->")?;
        let results = self.result_types()?;
        Ok(self.module.types.intern(Type::Function { inputs, results }))
    }

    pub(super) fn type_list_in_parens(&mut self) -> Read<Vec<TypeId>> {
        self.cursor.expect("(")?;
        let mut types = Vec::new();
        if !self.cursor.eat(")") {
            self.list(")", |reader| {
                types.push(reader.ty()?);
                Ok(())
            })?;
        }
        Ok(types)
    }

    /// A single type or a list in parentheses.
    pub(super) fn result_types(&mut self) -> Read<Vec<TypeId>> {
        if self.cursor.peek() == Some(b'(') { self.type_list_in_parens() } else { Ok(vec![self.ty()?]) }
    }

    /// After `tensor`.
    fn tensor_type(&mut self, start: usize) -> Read<TypeId> {
        self.cursor.expect("<")?;
        let mut shape = Vec::new();
        let unranked = self.cursor.eat("*x");
        loop {
            let at = self.cursor.here();
            let dim = if unranked {
                break;
            } else if self.cursor.eat("?") {
                Dim::Dynamic
            } else if self.cursor.peek().is_some_and(|b| b.is_ascii_digit()) {
                Dim::Static(self.dimension()?)
            } else {
                break;
            };
            if shape.len() == MAX_RANK {
                return Err(Diagnostic::limit(at, format!("more than {MAX_RANK} dimensions")));
            }
            shape.push(dim);
            self.cursor.expect("x")?;
        }
        let element = self.element_type()?;
        let encoding_at = self.cursor.here();
        let encoding = if self.cursor.eat(",") { Some(self.attribute()?) } else { None };
        if unranked && encoding.is_some() {
            return Err(Diagnostic::invalid(encoding_at, "a tensor without rank cannot have an encoding"));
        }
        self.cursor.expect(">")?;
        let Some(element) = element else { return Ok(self.opaque_type(start)) };
        let ty = if unranked {
            Type::UnrankedTensor(element)
        } else {
            Type::Tensor(TensorType { shape, element, encoding })
        };
        Ok(self.module.types.intern(ty))
    }

    /// Digits of a dimension; `x` follows without space, so `0x` is no hex prefix here.
    fn dimension(&mut self) -> Read<u64> {
        let start = self.cursor.here();
        let rest = &self.cursor.text.as_bytes()[start..];
        let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        self.cursor.at += length;
        let size = self.cursor.text[start..start + length].parse::<u64>().ok();
        size.filter(|size| i64::try_from(*size).is_ok())
            .ok_or_else(|| Diagnostic::invalid(start, "the dimension does not fit 63 bits"))
    }

    /// The element type; none for one that is kept as text.
    fn element_type(&mut self) -> Read<Option<ElementType>> {
        let start = self.cursor.here();
        if self.cursor.peek() == Some(b'!') {
            self.dialect_type()?;
            return Ok(None);
        }
        let Some(name) = self.cursor.identifier() else {
            return Err(self.cursor.expected("an element type"));
        };
        match name {
            "complex" => self.complex(start).map(Some),
            "vector" | "tuple" | "tensor" | "memref" => {
                self.cursor.at = start;
                self.ty()?;
                Err(Diagnostic::invalid(start, "this type cannot be an element of a tensor"))
            }
            name => match ElementType::from_name(name) {
                Some(element) => Ok(Some(element)),
                None => Err(Diagnostic::invalid(start, format!("unknown element type '{name}'"))),
            },
        }
    }

    /// Items separated by commas up to `close`, at least one.
    pub(super) fn list(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        loop {
            item(self)?;
            if self.cursor.eat(close) {
                return Ok(());
            }
            if !self.cursor.eat(",") {
                return Err(self.cursor.expected(&format!("',' or '{close}'")));
            }
        }
    }
}
