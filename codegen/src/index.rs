//! Index arithmetic: affine expressions over loop variables, with quotients.
//!
//! A multi-index of a tensor is one [`Affine`] per dimension. Views, slices,
//! transposes and broadcasts map multi-indices to multi-indices; a load adds
//! them up by strides. Reshapes divide: [`Indices::div`] splits off what
//! divides exactly and names the rest as an atom of its own. A remainder is
//! `x − c·⌊x/c⌋`, so that flattening what was unflattened cancels by mere
//! addition of terms.

use crate::emit::Ssa;
use ckpt_entity::{EntityVec, define_id};
use std::collections::HashMap;

define_id! {
    /// A term of affine expressions that has no further structure.
    pub(crate) struct AtomId("atom");
}

/// `constant + Σ coefficient·atom`, terms sorted by atom, no zero coefficients.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Affine {
    pub(crate) terms: Vec<(AtomId, i64)>,
    pub(crate) constant: i64,
}

impl Affine {
    /// A number.
    pub(crate) fn constant(constant: i64) -> Self {
        Self { terms: Vec::new(), constant }
    }

    /// `self + factor·other`. Wraps: attributes of valid programs may be huge
    /// where what they multiply is always zero.
    pub(crate) fn plus(&self, factor: i64, other: &Self) -> Self {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let term = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 == y.0 => {
                    let sum = x.1.wrapping_add(factor.wrapping_mul(y.1));
                    (a.next(), b.next()).0.map(|x| (x.0, sum))
                }
                (Some(x), Some(y)) if x.0 > y.0 => b.next().map(|y| (y.0, factor.wrapping_mul(y.1))),
                (Some(_), _) => a.next().copied(),
                (None, Some(_)) => b.next().map(|y| (y.0, factor.wrapping_mul(y.1))),
                (None, None) => break,
            };
            terms.extend(term.filter(|(_, coefficient)| *coefficient != 0));
        }
        Self { terms, constant: self.constant.wrapping_add(factor.wrapping_mul(other.constant)) }
    }

    /// `factor·self`.
    pub(crate) fn times(&self, factor: i64) -> Self {
        Self::default().plus(factor, self)
    }

    /// `self + constant`.
    pub(crate) fn offset(&self, constant: i64) -> Self {
        Self { terms: self.terms.clone(), constant: self.constant.wrapping_add(constant) }
    }

    /// The coefficient of an atom.
    pub(crate) fn coefficient(&self, atom: AtomId) -> i64 {
        self.terms.iter().find(|(a, _)| *a == atom).map_or(0, |(_, coefficient)| *coefficient)
    }

    /// Σ `strides[d]·index[d]`.
    pub(crate) fn flatten(index: &[Self], strides: &[i64]) -> Self {
        index.iter().zip(strides).fold(Self::default(), |sum, (i, s)| sum.plus(*s, i))
    }
}

/// What an atom stands for.
#[derive(Clone, Debug)]
pub(crate) enum Atom {
    /// A value of the program being emitted: a loop variable, an index read from memory.
    Value(Ssa),
    /// ⌊dividend ÷ divisor⌋, the divisor positive.
    Quotient(Affine, i64),
}

/// Atoms with their ranges.
#[derive(Clone, Debug, Default)]
pub(crate) struct Indices {
    atoms: EntityVec<AtomId, (Atom, Range)>,
    quotients: HashMap<(Affine, i64), AtomId>,
}

/// Smallest and largest value.
pub(crate) type Range = (i64, i64);

impl Indices {
    /// A new variable with its range.
    pub(crate) fn variable(&mut self, value: Ssa, range: Range) -> Affine {
        let atom = self.atoms.push((Atom::Value(value), range));
        Affine { terms: vec![(atom, 1)], constant: 0 }
    }

    /// What an atom stands for.
    pub(crate) fn atom(&self, atom: AtomId) -> &Atom {
        &self.atoms[atom].0
    }

    /// All quotients with their divisors.
    pub(crate) fn quotients(&self) -> impl Iterator<Item = (&Affine, i64)> {
        self.quotients.keys().map(|(dividend, divisor)| (dividend, *divisor))
    }

    /// Bounds of a value. Knows that `k·x − k·c·⌊x/c⌋` is at most `k·(c−1)`.
    pub(crate) fn range(&self, affine: &Affine) -> Range {
        let mut rest = affine.clone();
        let (mut low, mut high) = (0, 0);
        // Each round takes away at least one term.
        while let Some((smaller, most)) = self.without_remainder(&rest) {
            rest = smaller;
            high += most;
        }
        low += rest.constant;
        high += rest.constant;
        for (atom, coefficient) in &rest.terms {
            let (from, to) = self.atoms[*atom].1;
            let (a, b) = (coefficient.saturating_mul(from), coefficient.saturating_mul(to));
            low = low.saturating_add(a.min(b));
            high = high.saturating_add(a.max(b));
        }
        (low, high)
    }

    /// Takes one remainder `k·(x − c·⌊x/c⌋)` out of a sum: what is left, and
    /// the largest value of what was taken. Where x is itself a quotient
    /// ⌊y/b⌋, ⌊x/c⌋ is written ⌊y/(b·c)⌋.
    fn without_remainder(&self, affine: &Affine) -> Option<(Affine, i64)> {
        affine.terms.iter().find_map(|(atom, coefficient)| {
            let Atom::Quotient(dividend, divisor) = &self.atoms[*atom].0 else { return None };
            let inner = affine.terms.iter().filter_map(|(other, _)| match &self.atoms[*other].0 {
                Atom::Quotient(y, by) if y == dividend && by < divisor && divisor % by == 0 => {
                    Some((Affine { terms: vec![(*other, 1)], constant: 0 }, divisor / by))
                }
                _ => None,
            });
            inner.chain([(dividend.clone(), *divisor)]).find_map(|(x, c)| {
                let factor = -coefficient / c;
                if factor <= 0 || factor * c != -coefficient {
                    return None;
                }
                let quotient = Affine { terms: vec![(*atom, 1)], constant: 0 };
                let left = affine.plus(-factor, &x).plus(factor * c, &quotient);
                (left.terms.len() < affine.terms.len()).then_some((left, factor * (c - 1)))
            })
        })
    }

    /// ⌊affine ÷ divisor⌋ for a positive divisor.
    pub(crate) fn div(&mut self, affine: &Affine, divisor: i64) -> Affine {
        if divisor == 1 {
            return affine.clone();
        }
        let exact = |(_, coefficient): &&(AtomId, i64)| coefficient % divisor == 0;
        let whole = Affine {
            terms: affine.terms.iter().filter(exact).map(|(a, c)| (*a, c / divisor)).collect(),
            constant: affine.constant.div_euclid(divisor),
        };
        let rest = Affine {
            terms: affine.terms.iter().filter(|term| !exact(term)).copied().collect(),
            constant: affine.constant.rem_euclid(divisor),
        };
        // The whole may be in range where the rest alone is not.
        for (dividend, known) in [(affine, Affine::default()), (&rest, whole.clone())] {
            let (low, high) = self.range(dividend);
            if low.div_euclid(divisor) == high.div_euclid(divisor) {
                return known.offset(low.div_euclid(divisor));
            }
        }
        let (rest, divisor) = self.without_small_terms(rest, divisor);
        whole.plus(1, &self.quotient(rest, divisor))
    }

    /// ⌊(g·x + y) ÷ (g·c)⌋ = ⌊x ÷ c⌋ where 0 ≤ y < g.
    fn without_small_terms(&self, dividend: Affine, divisor: i64) -> (Affine, i64) {
        let mut factors: Vec<i64> = dividend.terms.iter().map(|(_, c)| gcd(c.abs(), divisor)).collect();
        factors.sort_unstable_by(|a, b| b.cmp(a));
        factors.dedup();
        for factor in factors.into_iter().filter(|factor| *factor > 1) {
            let (large, small): (Vec<_>, Vec<_>) =
                dividend.terms.iter().copied().partition(|(_, c)| c % factor == 0);
            let small = Affine { terms: small, constant: dividend.constant.rem_euclid(factor) };
            let (low, high) = self.range(&small);
            if low >= 0 && high < factor {
                let terms = large.into_iter().map(|(a, c)| (a, c / factor)).collect();
                let constant = dividend.constant.div_euclid(factor);
                return (Affine { terms, constant }, divisor / factor);
            }
        }
        (dividend, divisor)
    }

    fn quotient(&mut self, dividend: Affine, divisor: i64) -> Affine {
        if divisor == 1 {
            return dividend;
        }
        // ⌊⌊x/a⌋/b⌋ = ⌊x/(a·b)⌋.
        if let ([(atom, 1)], 0) = (&dividend.terms[..], dividend.constant)
            && let Atom::Quotient(inner, by) = &self.atoms[*atom].0
        {
            let (inner, by) = (inner.clone(), by * divisor);
            return self.quotient(inner, by);
        }
        let (low, high) = self.range(&dividend);
        if low.div_euclid(divisor) == high.div_euclid(divisor) {
            return Affine::constant(low.div_euclid(divisor));
        }
        let key = (dividend, divisor);
        let atom = match self.quotients.get(&key) {
            Some(atom) => *atom,
            None => {
                let range = (low.div_euclid(divisor), high.div_euclid(divisor));
                let atom = self.atoms.push((Atom::Quotient(key.0.clone(), divisor), range));
                self.quotients.insert(key, atom);
                atom
            }
        };
        Affine { terms: vec![(atom, 1)], constant: 0 }
    }

    /// The remainder that belongs to [`Self::div`].
    pub(crate) fn rem(&mut self, affine: &Affine, divisor: i64) -> Affine {
        let quotient = self.div(affine, divisor);
        affine.plus(-divisor, &quotient)
    }

    /// The multi-index of a row-major position in `shape`.
    pub(crate) fn unflatten(&mut self, position: &Affine, shape: &[i64]) -> Vec<Affine> {
        let mut index = vec![Affine::default(); shape.len()];
        let mut rest = position.clone();
        for (dim, size) in shape.iter().enumerate().skip(1).rev() {
            index[dim] = self.rem(&rest, *size);
            rest = self.div(&rest, *size);
        }
        if let Some(first) = index.first_mut() {
            *first = rest;
        }
        index
    }
}

/// Row-major strides in elements.
pub(crate) fn strides(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim].max(1);
    }
    strides
}

/// Greatest common divisor of non-negative numbers; `gcd(0, x) = x`.
pub(crate) fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::Ty;
    use ckpt_entity::EntityId as _;

    fn variable(indices: &mut Indices, extent: i64) -> Affine {
        let id = indices.atoms.next_id().index() as u32;
        indices.variable(Ssa { id, level: 1, ty: Ty::I64 }, (0, extent - 1))
    }

    #[test]
    fn flattening_cancels_unflattening() {
        let mut indices = Indices::default();
        let n = variable(&mut indices, 8 * 16 * 96);
        let index = indices.unflatten(&n, &[8, 16, 2, 48]);
        assert_eq!(Affine::flatten(&index, &strides(&[8, 16, 2, 48])), n);
        let merged = indices.unflatten(&Affine::flatten(&index, &strides(&[8, 16, 2, 48])), &[8, 16, 96]);
        assert_eq!(Affine::flatten(&merged, &strides(&[8, 16, 96])), n);
        assert_eq!(indices.range(&index[3]), (0, 47));
        assert_eq!(indices.range(&index[1]), (0, 15));
    }

    #[test]
    fn quotients_of_rows_do_not_see_columns() {
        let mut indices = Indices::default();
        let (r, j) = (variable(&mut indices, 64), variable(&mut indices, 12));
        let n = r.times(12).plus(1, &j);
        let split = indices.unflatten(&n, &[8, 2, 4, 12]);
        assert_eq!(split[3], j);
        let quotients: Vec<_> = indices.quotients().map(|(x, c)| (x.clone(), c)).collect();
        assert!(quotients.iter().all(|(x, _)| *x == r), "{quotients:?}");
    }
}
