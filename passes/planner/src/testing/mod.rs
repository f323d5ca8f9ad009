//! For tests only: random problems and their exact optima.

mod exact;
mod generate;

pub(crate) use exact::{least_peak, least_time};
pub(crate) use generate::random_problem;
