//! Arguments drawn from a seed, the same on every machine.

use crate::failure::Failure;
use ckpt_interp::Tensor;
use ckpt_ir::ElementType;

/// Standard deviation of the floats.
const SCALE: f64 = 0.1;

/// A generator of normal numbers (SplitMix64, Steele et al. 2014; polar method, Marsaglia 1964).
pub(crate) struct Normal {
    state: u64,
    spare: Option<f64>,
}

impl Normal {
    /// A generator that yields the same sequence for the same seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed, spare: None }
    }

    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Uniform in (−1, 1).
    fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn next(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (self.uniform(), self.uniform());
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * libm::log(square) / square).sqrt();
                self.spare = Some(y * factor);
                return x * factor;
            }
        }
    }

    /// A tensor: floats are 0.1 × standard normal, integers and booleans 0 or 1.
    pub(crate) fn tensor(&mut self, element: ElementType, shape: &[usize]) -> Result<Tensor, Failure> {
        let count: usize = shape.iter().product();
        let wide = if element.is_complex() { 2 * count } else { count };
        let real = element.is_float() || element.is_complex();
        let values: Vec<f64> =
            (0..wide).map(|_| if real { SCALE * self.next() } else { (self.bits() >> 63) as f64 }).collect();
        let unknown = || Failure::Internal(format!("no way to draw {element}"));
        Tensor::from_f64s(element, shape, &values).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_normal_and_repeatable() {
        let draw = |seed| {
            let mut random = Normal::new(seed);
            (0..10_000).map(|_| random.next()).collect::<Vec<f64>>()
        };
        let values = draw(1);
        assert_eq!(values, draw(1));
        let mean = values.iter().sum::<f64>() / 1e4;
        let variance = values.iter().map(|x| x * x).sum::<f64>() / 1e4;
        assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
}
