//! Prices per byte, in fixed point.

/// A price per byte: `units / 2^PRICE_SHIFT` scaled time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Price(pub(super) u128);

/// Fraction bits of a [`Price`]: a price of one unit of scaled time for a
/// tebibyte still has 20 significant bits.
const PRICE_SHIFT: u32 = 60;

impl Price {
    /// The nearest price to some scaled time per byte; negative ones and NaN become 0.
    pub(super) fn new(time_per_byte: f64) -> Self {
        // `as` saturates; 2^100 per byte is more than any time divided by one byte.
        Self((time_per_byte.min((1u128 << 100) as f64) * (1u128 << PRICE_SHIFT) as f64) as u128)
    }

    /// Scaled time per byte.
    pub(super) fn per_byte(self) -> f64 {
        self.0 as f64 / (1u128 << PRICE_SHIFT) as f64
    }

    /// What `bytes` cost, rounded down and at most `limit`.
    pub(super) fn floor(self, bytes: u64, limit: u64) -> u64 {
        let exact = self.0.checked_mul(u128::from(bytes)).map_or(u128::MAX, |p| p >> PRICE_SHIFT);
        exact.min(u128::from(limit)) as u64
    }

    /// What `bytes` cost, rounded up; `None` if it does not fit.
    pub(super) fn ceil(self, bytes: u64) -> Option<u64> {
        let exact = self.0.checked_mul(u128::from(bytes))?;
        u64::try_from(exact.div_ceil(1 << PRICE_SHIFT)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_brackets_the_exact_cost() {
        for (per_byte, bytes) in [(1.0 / 3.0, 1000), (7.25, 12), (1e-9, u64::MAX >> 1), (0.0, 5)] {
            let price = Price::new(per_byte);
            let exact = price.per_byte() * bytes as f64;
            assert!(price.floor(bytes, u64::MAX) as f64 <= exact * (1.0 + 1e-12));
            assert!(price.ceil(bytes).unwrap() as f64 >= exact * (1.0 - 1e-12));
        }
        assert_eq!(Price::new(-1.0), Price(0));
        assert_eq!(Price::new(1e30).floor(u64::MAX >> 1, 77), 77);
    }
}
