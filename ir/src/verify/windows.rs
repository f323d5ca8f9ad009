//! Windows over a shape: their attributes and the shape that results.

use super::facts::{DYNAMIC, Shape};
use super::view::{Check, Op, Stop, invalid};

/// The attributes that describe windows, as they are written.
pub(super) struct WindowAttrs<'a> {
    /// Sizes of the window.
    pub(super) dimensions: &'a [i64],
    pub(super) strides: Option<&'a [i64]>,
    pub(super) base_dilations: Option<&'a [i64]>,
    pub(super) window_dilations: Option<&'a [i64]>,
    /// Low and high padding.
    pub(super) padding: Option<Vec<(i64, i64)>>,
    /// The number of `window_reversal`'s entries.
    pub(super) reversal: Option<usize>,
}

/// A window along one dimension.
#[derive(Clone, Copy)]
pub(super) struct Window {
    size: i64,
    stride: i64,
    base_dilation: i64,
    window_dilation: i64,
    padding: (i64, i64),
}

/// The `padding` attribute as pairs.
pub(super) fn padding(op: Op<'_>) -> Result<Option<Vec<(i64, i64)>>, Stop> {
    let Some(elements) = op.elements("padding")? else { return Ok(None) };
    if elements.shape.len() != 2 || elements.shape[1] != 2 {
        invalid!("expects the shape of padding-attribute to be {{N, 2}}, but got {:?}", elements.shape);
    }
    Ok(Some(elements.values.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()))
}

fn lengths(attrs: &WindowAttrs<'_>) -> Check {
    let wanted = attrs.dimensions.len();
    let given = [
        ("window-strides", attrs.strides.map(<[i64]>::len)),
        ("base-dilation factors", attrs.base_dilations.map(<[i64]>::len)),
        ("window-dilation factors", attrs.window_dilations.map(<[i64]>::len)),
        ("padding-entries", attrs.padding.as_ref().map(Vec::len)),
        ("window-reversal", attrs.reversal),
    ];
    for (name, given) in given {
        if let Some(given) = given.filter(|given| *given != 0 && *given != wanted) {
            invalid!(
                "expects {name} to have same dimension-size as size of window dimensions ({wanted}), but got: {given}"
            );
        }
    }
    Ok(())
}

/// The windows, one per dimension.
pub(super) fn windows(attrs: &WindowAttrs<'_>) -> Result<Vec<Window>, Stop> {
    lengths(attrs)?;
    let entry = |list: Option<&[i64]>, dim: usize| list.and_then(|list| list.get(dim)).copied().unwrap_or(1);
    let mut windows = Vec::with_capacity(attrs.dimensions.len());
    for (dim, &size) in attrs.dimensions.iter().enumerate() {
        let padding = attrs.padding.as_ref().and_then(|padding| padding.get(dim)).copied();
        let window = Window {
            size,
            stride: entry(attrs.strides, dim),
            base_dilation: entry(attrs.base_dilations, dim),
            window_dilation: entry(attrs.window_dilations, dim),
            padding: padding.unwrap_or_default(),
        };
        let positive = [
            ("value", size),
            ("stride", window.stride),
            ("base dilation factor", window.base_dilation),
            ("window dilation factor", window.window_dilation),
        ];
        for (what, value) in positive {
            if value <= 0 && value != DYNAMIC {
                invalid!(
                    "expects window to have positive {what} for {dim}-th window dimension, but got {value}"
                );
            }
        }
        windows.push(window);
    }
    Ok(windows)
}

/// The shape of one result per window position; dynamic where a size is.
/// Empty for an empty shape.
pub(super) fn output_shape(base: &[i64], windows: &[Window]) -> Shape {
    let dilated = |size: i64, by: i64| match size {
        0 => 0,
        size => (size - 1).saturating_mul(by).saturating_add(1),
    };
    let size = |(&base, window): (&i64, &Window)| {
        if base == DYNAMIC || window.size == DYNAMIC {
            return DYNAMIC;
        }
        let (low, high) = window.padding;
        let padded = dilated(base, window.base_dilation).saturating_add(low).saturating_add(high);
        let window_size = dilated(window.size, window.window_dilation);
        if padded <= 0 || window_size > padded { 0 } else { (padded - window_size) / window.stride + 1 }
    };
    base.iter().zip(windows).map(size).collect()
}
