//! The top of a few planes: where to look for the best prices.
//!
//! Each known solution of a closure problem is a plane over the prices,
//! `time + Σ price_i × excess_i`, above the dual function; their minimum is a
//! model of it. This finds the top of the model over non-negative prices, by
//! the simplex method on the dual (a mix of planes without excess at the least
//! time). Floating point throughout: the result only says where to look next.

/// A plane: value at price zero, and slope per price.
#[derive(Clone, Debug)]
pub(super) struct Plane {
    /// Time of the solution.
    pub(super) time: f64,
    /// Bytes kept beyond capacity, per instant; negative if it fits.
    pub(super) excess: Vec<f64>,
}

/// Pivots after which the search stops where it is. A vertex has as many
/// planes as there are instants, and there are at most a few dozen planes.
const MAX_PIVOTS: usize = 200;

/// Relative size below which a reduced cost or a pivot counts as zero.
const TOLERANCE: f64 = 1e-11;

/// The height of the top and its prices. `first` must have no positive excess
/// and starts the search.
pub(super) fn top(first: &Plane, planes: &[Plane]) -> (f64, Vec<f64>) {
    Simplex::new(first, planes).run()
}

/// Tableau with a row per instant and one for the mix; columns are the planes
/// (the first one first) and a slack per instant.
struct Simplex<'a> {
    planes: Vec<&'a Plane>,
    rows: usize,
    /// Basic column per row.
    basis: Vec<usize>,
    /// Rows of the tableau, the right hand side last.
    tableau: Vec<Vec<f64>>,
    /// Scale per instant, so that slopes are about one.
    scale: Vec<f64>,
}

impl<'a> Simplex<'a> {
    fn new(first: &'a Plane, planes: &'a [Plane]) -> Self {
        let instants = first.excess.len();
        let all: Vec<&Plane> = std::iter::once(first).chain(planes).collect();
        let largest = |i: usize| all.iter().map(|p| p.excess[i].abs()).fold(1.0, f64::max);
        let scale: Vec<f64> = (0..instants).map(largest).collect();
        let columns = all.len() + instants + 1;
        let mut tableau = vec![vec![0.0; columns]; instants + 1];
        for (column, plane) in all.iter().enumerate() {
            for instant in 0..instants {
                tableau[instant][column] = plane.excess[instant] / scale[instant];
            }
            tableau[instants][column] = 1.0;
        }
        for (instant, row) in tableau.iter_mut().enumerate().take(instants) {
            row[all.len() + instant] = 1.0;
        }
        tableau[instants][columns - 1] = 1.0;
        let basis = (0..instants).map(|i| all.len() + i).chain([0]).collect();
        let mut simplex = Self { rows: instants + 1, planes: all, basis, tableau, scale };
        // The first plane is basic in the last row: clear it from the others.
        simplex.pivot(instants, 0);
        simplex
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let pivot = self.tableau[row][column];
        self.tableau[row].iter_mut().for_each(|x| *x /= pivot);
        let pivot_row = self.tableau[row].clone();
        for other in (0..self.rows).filter(|&r| r != row) {
            let factor = self.tableau[other][column];
            if factor != 0.0 {
                for (x, p) in self.tableau[other].iter_mut().zip(&pivot_row) {
                    *x -= factor * p;
                }
            }
        }
        self.basis[row] = column;
    }

    fn cost(&self, column: usize) -> f64 {
        self.planes.get(column).map_or(0.0, |plane| plane.time)
    }

    fn reduced_cost(&self, column: usize) -> f64 {
        let rows = self.tableau.iter().zip(&self.basis);
        self.cost(column) - rows.map(|(row, &basic)| self.cost(basic) * row[column]).sum::<f64>()
    }

    fn run(mut self) -> (f64, Vec<f64>) {
        let columns = self.planes.len() + self.scale.len();
        let largest = self.planes.iter().map(|p| p.time).fold(1.0, f64::max);
        for _ in 0..MAX_PIVOTS {
            // Bland's rule: the first column that improves, no cycles.
            let improves = |&c: &usize| self.reduced_cost(c) < -TOLERANCE * largest;
            let Some(column) = (0..columns).find(improves) else { break };
            let ratio =
                |&row: &usize| (self.tableau[row][columns] / self.tableau[row][column], self.basis[row]);
            let leaving = (0..self.rows)
                .filter(|&row| self.tableau[row][column] > TOLERANCE)
                .min_by(|a, b| ratio(a).0.total_cmp(&ratio(b).0).then(ratio(a).1.cmp(&ratio(b).1)));
            let Some(row) = leaving else { break };
            self.pivot(row, column);
        }
        let value = (0..self.rows).map(|r| self.cost(self.basis[r]) * self.tableau[r][columns]);
        let height = value.sum();
        // A slack's reduced cost is the price of its row.
        let slack = |i: usize| self.reduced_cost(self.planes.len() + i) / self.scale[i];
        let prices = (0..self.scale.len()).map(|i| slack(i).max(0.0)).collect();
        (height, prices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane(time: f64, excess: &[f64]) -> Plane {
        Plane { time, excess: excess.to_vec() }
    }

    #[test]
    fn one_price_is_where_two_lines_meet() {
        let first = plane(100.0, &[-10.0]);
        let (height, prices) = top(&first, &[plane(0.0, &[10.0]), plane(20.0, &[-2.0])]);
        assert!((prices[0] - 20.0 / 12.0).abs() < 1e-9, "{prices:?}");
        assert!((height - 200.0 / 12.0).abs() < 1e-9, "{height}");
    }

    #[test]
    fn two_prices_hold_two_capacities() {
        let first = plane(100.0, &[-10.0, -10.0]);
        let planes = [plane(0.0, &[4.0, 4.0]), plane(3.0, &[-4.0, 4.0]), plane(5.0, &[4.0, -4.0])];
        let (height, prices) = top(&first, &planes);
        for p in planes.iter().chain([&first]) {
            let value = p.time + p.excess[0] * prices[0] + p.excess[1] * prices[1];
            assert!(value >= height - 1e-9, "{p:?} {prices:?} {height}");
        }
        assert!((height - 4.0).abs() < 1e-9, "{height}");
    }
}
