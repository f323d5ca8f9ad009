//! The winners of a max-pool behind a ReLU, kept as bits.

use super::{Sym, Terms, pack_source, unpacked};
use crate::term::OpTerm;
use ckpt_ir::{Attr, ElementType};

/// The code of a window without a positive winner.
const NONE: u8 = 255;

/// `select(x > 0, select_and_scatter(y, g, 0, GE, add), 0)` with `y = max(x, 0)`
/// and windows that tile `y` is, at every element, `0 + g` of its window where
/// the element is the window's winner and positive, and `+0` elsewhere:
///
/// ```text
/// reshape(select(bits, spread(0 + g), 0)), bits = unpack(pack(spread(code) == place))
/// code = select(best > 0, winner, 255)
/// best, winner over the window's places k in row-major order, from place 0:
///     keeps = best >= y_k; best = select(keeps, best, y_k); winner = select(keeps, winner, k)
/// ```
///
/// which is how the specification folds the selection. Only the winner gets
/// the gradient, once, onto zero; `x > 0` and `max(x, 0) > 0` are the same
/// there, NaN included. `place` of a window's element is its row-major place.
pub(super) fn pool_code(terms: Terms<'_>, value: Sym, target: Sym) -> bool {
    pool(terms, target).is_some_and(|pool| pool.is_routed(value).is_some())
}

/// What the input computes.
struct Pool<'a> {
    terms: Terms<'a>,
    y: Sym,
    gradient: Sym,
    shape: Vec<u64>,
    window: Vec<u64>,
}

/// Reads the target; none unless all side conditions hold.
fn pool(terms: Terms<'_>, target: Sym) -> Option<Pool<'_>> {
    let &[mask, routed, zeros] = &terms.run("stablehlo.select", target)?.operands[..] else { return None };
    let routed = without_effect(terms, routed, "stablehlo.slice", &[]);
    let scatter = terms.run("stablehlo.select_and_scatter", routed)?;
    let &[padded, gradient, initial] = &scatter.operands[..] else { return None };
    let amounts = ["edge_padding_low", "edge_padding_high", "interior_padding"];
    let y = without_effect(terms, padded, "stablehlo.pad", &amounts);
    let tensor = terms.tensor(y)?;
    let (shape, sizes) = (tensor.static_shape()?, terms.ints(scatter, "window_dimensions")?);
    let window: Vec<u64> = sizes.iter().map(|size| u64::try_from(*size).ok()).collect::<Option<_>>()?;
    let unpadded = match terms.property(scatter, "padding") {
        None => true,
        Some(Attr::Dense(dense)) => dense.bytes.iter().all(|byte| *byte == 0),
        Some(_) => false,
    };
    let tiles = shape.len() == window.len()
        && shape.iter().zip(&window).all(|(size, window)| *window > 0 && size % window == 0);
    let &[selects, adds] = &scatter.regions[..] else { return None };
    let selection = terms.binary_body(selects, "stablehlo.compare")?;
    let holds = tensor.element.is_float()
        && unpadded
        && tiles
        && terms.ints(scatter, "window_strides")? == sizes
        && window.iter().product::<u64>() <= u64::from(NONE)
        && is_partial_order(terms, selection, "GE")
        && terms.is_binary_body(adds, "stablehlo.add")
        && terms.is_zero(initial)
        && terms.is_zero(zeros)
        && is_positive(terms, mask, y)?;
    holds.then_some(Pool { terms, y, gradient, shape, window })
}

/// The operand of a run of `name` that changes nothing: of the operand's own
/// type, with all `amounts` zero. Else the value itself.
fn without_effect(terms: Terms<'_>, value: Sym, name: &str, amounts: &[&str]) -> Sym {
    let Some(op) = terms.run(name, value) else { return value };
    let zero = |amount: &&str| terms.ints(op, amount).is_some_and(|ints| ints.iter().all(|i| *i == 0));
    let (Some(&operand), true) = (op.operands.first(), amounts.iter().all(zero)) else { return value };
    let types = &terms.common.terms;
    if types.value_type(operand) == types.value_type(value) { operand } else { value }
}

/// Whether a comparison has the direction and is not by the total order.
fn is_partial_order(terms: Terms<'_>, compare: &OpTerm, direction: &str) -> bool {
    let is = |name, wanted| match terms.property(compare, name) {
        Some(Attr::Enum(_, value)) => terms.common.canonical.names.get(*value) == wanted,
        _ => false,
    };
    is("comparison_direction", direction) && !is("compare_type", "TOTALORDER")
}

/// Whether `mask` is `x > 0` or `y > 0`, where `y` is `max(x, 0)`.
fn is_positive(terms: Terms<'_>, mask: Sym, y: Sym) -> Option<bool> {
    let compare = terms.run("stablehlo.compare", mask)?;
    let (&[of, bound], &[a, b]) = (&compare.operands[..], &terms.run("stablehlo.maximum", y)?.operands[..])
    else {
        return None;
    };
    let is_input = (of == a && terms.is_zero(b)) || (of == b && terms.is_zero(a));
    let is_output = of == y && (terms.is_zero(a) || terms.is_zero(b));
    Some(is_partial_order(terms, compare, "GT") && terms.is_zero(bound) && (is_input || is_output))
}

impl Pool<'_> {
    fn is_routed(&self, value: Sym) -> Option<()> {
        let terms = self.terms;
        let routed = terms.operand("stablehlo.reshape", value)?;
        let &[bits, spread, zeros] = &terms.run("stablehlo.select", routed)?.operands[..] else {
            return None;
        };
        let (shape, windows, places) = self.split();
        let has_shape = |value| Some(terms.tensor(value)?.static_shape()? == shape);
        let hit = pack_source(terms, unpacked(terms, bits)?)?;
        let compare = terms.run("stablehlo.compare", hit)?;
        let &[code, place] = &compare.operands[..] else { return None };
        let sum = terms.run("stablehlo.add", self.spread_row(spread, &windows)?)?;
        let holds = has_shape(routed)?
            && has_shape(hit)?
            && terms.tensor(code)?.element == ElementType::Uint(8)
            && terms.is_zero(zeros)
            && matches!(sum.operands[..], [zero, g] if terms.is_zero(zero) && g == self.gradient)
            && is_partial_order(terms, compare, "EQ")
            && self.is_place(place, &places)?;
        self.is_code(self.spread_row(code, &windows)?)?;
        holds.then_some(())
    }

    /// The split shape, the windows' dimensions in it, and the places' with their sizes.
    fn split(&self) -> (Vec<u64>, Vec<i64>, Vec<(i128, u8)>) {
        let (mut shape, mut windows, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (size, window) in self.shape.iter().zip(&self.window) {
            windows.push(shape.len() as i64);
            shape.push(size / window);
            if *window > 1 {
                places.push((shape.len() as i128, *window as u8));
                shape.push(*window);
            }
        }
        (shape, windows, places)
    }

    /// What is repeated for each place of its window.
    fn spread_row(&self, value: Sym, windows: &[i64]) -> Option<Sym> {
        let broadcast = self.terms.run("stablehlo.broadcast_in_dim", value)?;
        let &[row] = &broadcast.operands[..] else { return None };
        let shape = self.terms.tensor(row)?.static_shape()?;
        let counts = self.shape.iter().zip(&self.window).map(|(size, window)| size / window);
        let regular =
            self.terms.ints(broadcast, "broadcast_dimensions")? == windows && shape.into_iter().eq(counts);
        regular.then_some(row)
    }

    /// Whether `value` is each element's row-major place in its window.
    fn is_place(&self, value: Sym, places: &[(i128, u8)]) -> Option<bool> {
        let (first, rest) = places.split_first()?;
        let mut value = value;
        for (axis, window) in rest.iter().rev() {
            let &[row, coordinate] = &self.terms.run("stablehlo.add", value)?.operands[..] else {
                return None;
            };
            let &[outer, stride] = &self.terms.run("stablehlo.multiply", row)?.operands[..] else {
                return None;
            };
            if !self.terms.is_iota(coordinate, *axis) || !self.terms.is_byte(stride, *window) {
                return None;
            }
            value = outer;
        }
        Some(self.terms.is_iota(value, first.0))
    }

    fn is_code(&self, code: Sym) -> Option<()> {
        let terms = self.terms;
        let &[positive, mut winner, none] = &terms.run("stablehlo.select", code)?.operands[..] else {
            return None;
        };
        let compare = terms.run("stablehlo.compare", positive)?;
        let &[mut best, zero] = &compare.operands[..] else { return None };
        if !(terms.is_byte(none, NONE) && terms.is_zero(zero) && is_partial_order(terms, compare, "GT")) {
            return None;
        }
        let count = self.window.iter().product::<u64>() as u8;
        for place in (1..count).rev() {
            let &[keeps, best_before, here] = &terms.run("stablehlo.select", best)?.operands[..] else {
                return None;
            };
            let &[also, winner_before, is_here] = &terms.run("stablehlo.select", winner)?.operands[..] else {
                return None;
            };
            let compare = terms.run("stablehlo.compare", keeps)?;
            let holds = keeps == also
                && is_partial_order(terms, compare, "GE")
                && compare.operands[..] == [best_before, here]
                && self.is_element(here, place)?
                && terms.is_byte(is_here, place);
            if !holds {
                return None;
            }
            (best, winner) = (best_before, winner_before);
        }
        (self.is_element(best, 0)? && terms.is_byte(winner, 0)).then_some(())
    }

    /// Whether `value` is `y` at a place of every window.
    fn is_element(&self, value: Sym, place: u8) -> Option<bool> {
        let slice = self.terms.run("stablehlo.slice", value)?;
        let signed = |sizes: &[u64]| sizes.iter().map(|size| *size as i64).collect::<Vec<_>>();
        let mut rest = u64::from(place);
        let mut starts: Vec<i64> = vec![0; self.window.len()];
        for (start, window) in starts.iter_mut().zip(&self.window).rev() {
            *start = (rest % window) as i64;
            rest /= window;
        }
        let is = |name, wanted: &[i64]| Some(self.terms.ints(slice, name)? == wanted);
        Some(
            slice.operands[..] == [self.y]
                && is("start_indices", &starts)?
                && is("limit_indices", &signed(&self.shape))?
                && is("strides", &signed(&self.window))?,
        )
    }
}
