//! Limits on the work that a bound may take.

/// How much work a bound may take. All counts, so that the same problem gives
/// the same bound on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundOptions {
    /// Actions visited while instants are ranked; each instant visits every
    /// action about twice. Default 2^25, below half a second; graphs of up to
    /// 4 000 derivations are ranked whole.
    pub ranking_visits: usize,
    /// Instants for which the best price is sought. Default 64. Fewer on large
    /// graphs: see `cut_visits`.
    pub instants: usize,
    /// Instants times actions for which the best price is sought. Default 2^21.
    pub cut_visits: usize,
    /// Instants at which integrality is sought by branch and bound. Default 4.
    pub branched_instants: usize,
    /// Stores looked at by the search for histories behind the peak bound.
    /// Default 2^22, about half a second.
    pub history_visits: usize,
    /// Instants that one proof may join. Default 4.
    pub joined_instants: usize,
    /// Branch-and-bound nodes per instant. Default 400; fewer on large graphs,
    /// where nodes times actions is at most `cut_visits`.
    pub branch_nodes: usize,
}

impl Default for BoundOptions {
    fn default() -> Self {
        Self {
            ranking_visits: 1 << 25,
            instants: 64,
            cut_visits: 1 << 21,
            branched_instants: 4,
            history_visits: 1 << 22,
            joined_instants: 4,
            branch_nodes: 400,
        }
    }
}
