//! Types that the data model keeps as text: quantised elements, and shapes around them.

use super::facts::{DYNAMIC, Element, Shape};
use crate::ElementType;

/// `!quant.uniform<storage<min:max>:expressed:axis, scale:zero_point>`.
#[derive(Clone, Debug)]
pub(super) struct Quant {
    /// The integer type that holds it.
    pub(super) storage: ElementType,
    /// Smallest and largest storage value.
    pub(super) range: (i64, i64),
    /// The type that it stands for.
    pub(super) expressed: ElementType,
    /// The quantised dimension, if quantised per axis.
    pub(super) axis: Option<i64>,
    /// Scales and zero points, one per slice along the axis.
    pub(super) steps: Vec<(f64, i64)>,
    /// As it was written.
    pub(super) text: Box<str>,
}

/// Equal types may be written differently.
impl PartialEq for Quant {
    fn eq(&self, other: &Self) -> bool {
        self.compatible(other) && self.axis == other.axis && self.steps == other.steps
    }
}

impl Quant {
    /// Widths of storage, a floating-point expressed type, zero points in the
    /// range of the storage, positive scales (specification, "Types").
    pub(super) fn is_sound(&self) -> bool {
        let width = matches!(self.storage.bit_width(), 2 | 4 | 8 | 16 | 32);
        let (min, max) = self.range;
        let (least, most) = full_range(self.storage);
        let steps =
            self.steps.iter().all(|(scale, zero)| self.expresses(*scale) && (min..=max).contains(zero));
        width && self.expressed.is_float() && least <= min && min <= max && max <= most && steps
    }

    /// Whether a scale is a positive number in the range of the expressed type.
    fn expresses(&self, scale: f64) -> bool {
        let (smallest, largest) = match self.expressed {
            ElementType::F16 => (f64::exp2(-24.0), 65_504.0),
            ElementType::Bf16 => (f64::exp2(-133.0), f64::from(f32::from_bits(0x7f7f_0000))),
            ElementType::F32 => (f64::from(f32::from_bits(1)), f64::from(f32::MAX)),
            _ => (f64::from_bits(1), f64::MAX),
        };
        (smallest..=largest).contains(&scale)
    }

    /// Whether the axis is one of the shape and has one scale per slice.
    pub(super) fn fits(&self, shape: &[i64]) -> bool {
        let Some(axis) = self.axis else { return true };
        let size = usize::try_from(axis).ok().and_then(|axis| shape.get(axis));
        size.is_some_and(|size| *size == DYNAMIC || *size == self.steps.len() as i64)
    }

    /// Compatible for type inference.
    pub(super) fn compatible(&self, other: &Self) -> bool {
        self.storage == other.storage
            && self.range == other.range
            && self.expressed == other.expressed
            && self.axis.is_some() == other.axis.is_some()
    }
}

/// The inside of `tensor<…>` or `memref<…>`: sizes and, if understood, the
/// element type. None for unranked shapes and encodings.
pub(super) fn shaped(text: &str) -> Option<(Shape, Option<Element>)> {
    let mut shape = Shape::new();
    let mut rest = text.trim();
    loop {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let length = if rest.starts_with('?') { 1 } else { digits };
        let Some(after) = rest[length..].strip_prefix('x').filter(|_| length > 0) else { break };
        shape.push(if digits > 0 { rest[..digits].parse().ok()? } else { DYNAMIC });
        rest = after;
    }
    let (mut parts, first) = (split(rest), split(rest).next()?);
    if parts.by_ref().count() > 1 || rest.starts_with('*') {
        return None;
    }
    Some((shape, element(first)))
}

/// An element type by its text; none if it is not understood.
fn element(text: &str) -> Option<Element> {
    match text {
        "complex<f32>" => return Some(Element::Plain(ElementType::Complex64)),
        "complex<f64>" => return Some(Element::Plain(ElementType::Complex128)),
        _ => {}
    }
    if let Some(plain) = ElementType::from_name(text) {
        return Some(Element::Plain(plain));
    }
    let inside = text.strip_prefix("!quant.uniform<")?.strip_suffix('>')?;
    uniform(inside, text).map(|quant| Element::Quant(Box::new(quant)))
}

fn uniform(inside: &str, text: &str) -> Option<Quant> {
    let mut parts = split(inside);
    let (types, steps) = (parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let (storage, rest) = match types.find('<') {
        // `i8<-128:127>:f32`
        Some(open) => {
            let close = open + types[open..].find('>')?;
            (types[..open].trim(), Some((&types[open + 1..close], types[close + 1..].strip_prefix(':')?)))
        }
        None => (types.split(':').next()?.trim(), None),
    };
    let after =
        rest.map_or_else(|| types[storage.len()..].trim().strip_prefix(':'), |(_, after)| Some(after))?;
    let mut after = after.split(':').map(str::trim);
    let expressed = ElementType::from_name(after.next()?)?;
    let axis = after.next().map(|axis| axis.parse().ok()).map_or(Some(None), |axis| axis.map(Some))?;
    let storage = storage_type(storage)?;
    let range = match rest {
        Some((range, _)) => {
            let (min, max) = range.split_once(':')?;
            (min.trim().parse().ok()?, max.trim().parse().ok()?)
        }
        None => full_range(storage),
    };
    let steps = match steps.strip_prefix('{') {
        Some(list) => split(list.strip_suffix('}')?).map(step).collect::<Option<Vec<_>>>()?,
        None => vec![step(steps)?],
    };
    Some(Quant { storage, range, expressed, axis, steps, text: text.into() })
}

/// `i8` or `u8`; of no width where a sign is written, which no storage type has.
fn storage_type(text: &str) -> Option<ElementType> {
    if text.strip_prefix("si").is_some_and(|bits| bits.parse::<u8>().is_ok()) {
        return Some(ElementType::Int(0));
    }
    let unsigned = text.strip_prefix('u').and_then(|bits| bits.parse().ok()).map(ElementType::Uint);
    unsigned.or_else(|| ElementType::from_name(text).filter(|storage| storage.is_integer()))
}

fn full_range(storage: ElementType) -> (i64, i64) {
    let bits = storage.bit_width().clamp(1, 63);
    match storage {
        ElementType::Uint(_) => (0, i64::MAX >> (63 - bits)),
        _ => (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits)),
    }
}

/// `0.5:127`, or a scale alone.
fn step(text: &str) -> Option<(f64, i64)> {
    let (scale, zero) = text.split_once(':').unwrap_or((text, "0"));
    Some((scale.trim().parse().ok()?, zero.trim().parse().ok()?))
}

/// The parts between commas that stand in no brackets, trimmed.
pub(super) fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    text.split(move |c: char| {
        match c {
            '<' | '{' | '(' | '[' => depth += 1,
            '>' | '}' | ')' | ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantised_tensors_are_read() {
        let text = "1x2x!quant.uniform<i8<-128:127>:f32:1, {0.1:-30, 0.5:20}>";
        let (shape, Some(Element::Quant(quant))) = shaped(text).unwrap() else { panic!() };
        assert_eq!(shape.as_slice(), [1, 2]);
        assert_eq!((quant.axis, quant.range), (Some(1), (-128, 127)));
        assert_eq!(quant.steps, [(0.1, -30), (0.5, 20)]);
        assert!(quant.is_sound() && quant.fits(&shape));
        let (_, element) = shaped("?x!quant.uniform<u8:f32, 2.0e+00:15>").unwrap();
        assert_eq!(element.unwrap().quant().unwrap().range, (0, 255));
    }

    #[test]
    fn what_is_not_understood_is_no_element() {
        assert_eq!(shaped("4x!quant.calibrated<f32<-0.9:0.8>>").unwrap().1, None);
        assert_eq!(shaped("*xf32"), None);
    }
}
