//! The abstract problem: values, derivations, order and outputs.

use crate::{Bytes, DerivationId, Micros, ValueId};

/// One value of a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// For people; need not be unique.
    pub name: String,
    /// Size of its own storage. Zero for views and tokens.
    pub bytes: Bytes,
    /// A constant resident: live throughout, never computed or freed, and
    /// outside the peak. Arguments and parameters are residents.
    pub resident: bool,
}

/// One way to compute one or several values.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivation {
    /// For people; need not be unique.
    pub name: String,
    /// The kind of operation, for people.
    pub kind: String,
    /// What it yields. All become live together; none may be live before.
    pub outputs: Vec<ValueId>,
    /// What must be live when it runs.
    pub inputs: Vec<ValueId>,
    /// Time of one run.
    pub time: Micros,
    /// Held only while it runs.
    pub workspace: Bytes,
    /// Whether it may run more than once. Effects, random draws with hidden
    /// state and collectives run exactly once.
    pub recomputable: bool,
    /// Whether it keeps its place among the other ordered derivations: effects
    /// are observed in the program's order.
    pub ordered: bool,
    /// A view: the single, zero-byte output takes a reference on the storage
    /// of this input, which is held until its last reference is freed.
    pub alias: Option<ValueId>,
}

/// A rematerialisation problem. Construction checks the invariants below, so
/// solvers can index without looking.
///
/// - every non-resident value is an output of at least one derivation, no
///   resident is an output of any;
/// - `order` lists derivations such that each input is resident or computed
///   earlier; together they compute every non-resident value that has its
///   *first* derivation there (the program as it stands);
/// - a view has exactly one output of zero bytes, and its base is an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    name: String,
    values: Vec<Value>,
    derivations: Vec<Derivation>,
    order: Vec<DerivationId>,
    outputs: Vec<ValueId>,
    derivations_of: Vec<Vec<DerivationId>>,
}

/// Why a problem was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProblemError {
    /// An id does not name an entity of the problem.
    #[error("{what} names {id}, which does not exist")]
    UnknownId {
        /// Where the id stands.
        what: String,
        /// The id as printed.
        id: String,
    },
    /// A resident value has a derivation.
    #[error("resident value {value} is computed by {derivation}")]
    ResidentComputed {
        /// The value.
        value: ValueId,
        /// Its derivation.
        derivation: DerivationId,
    },
    /// A value without any derivation is used or returned.
    #[error("value {value} has no derivation and is not resident")]
    NoDerivation {
        /// The value.
        value: ValueId,
    },
    /// A view that is not a single zero-byte output of one of its inputs.
    #[error("derivation {derivation} is a view, but {reason}")]
    BadView {
        /// The view.
        derivation: DerivationId,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// `order` uses a value before it is computed, or computes one twice.
    #[error("the order is not topological at derivation {derivation}")]
    BadOrder {
        /// The first derivation that stands too early.
        derivation: DerivationId,
    },
    /// A time that is negative or not finite.
    #[error("derivation {derivation} has a time that is not a finite, non-negative number")]
    BadTime {
        /// The derivation.
        derivation: DerivationId,
    },
    /// The sum of all sizes does not fit 63 bits.
    #[error("the sizes of all values and workspaces together exceed 2^63 bytes")]
    TooLarge,
}

impl Problem {
    /// Checks and indexes a problem. Linear in its size.
    ///
    /// # Errors
    /// The first violated invariant, see [`ProblemError`].
    pub fn new(
        name: String,
        values: Vec<Value>,
        derivations: Vec<Derivation>,
        order: Vec<DerivationId>,
        outputs: Vec<ValueId>,
    ) -> Result<Self, ProblemError> {
        let mut problem = Self {
            derivations_of: vec![Vec::new(); values.len()],
            name,
            values,
            derivations,
            order,
            outputs,
        };
        problem.check_sizes()?;
        problem.index_derivations()?;
        problem.check_order()?;
        Ok(problem)
    }

    fn check_sizes(&self) -> Result<(), ProblemError> {
        const LIMIT: u64 = 1 << 63;
        let sizes =
            self.values.iter().map(|v| v.bytes.0).chain(self.derivations.iter().map(|d| d.workspace.0));
        let total = sizes.into_iter().try_fold(0u64, u64::checked_add);
        if total.is_none_or(|t| t >= LIMIT) { Err(ProblemError::TooLarge) } else { Ok(()) }
    }

    fn known_value(&self, value: ValueId, what: impl Fn() -> String) -> Result<(), ProblemError> {
        if value.index() < self.values.len() {
            return Ok(());
        }
        Err(ProblemError::UnknownId { what: what(), id: value.to_string() })
    }

    fn index_derivations(&mut self) -> Result<(), ProblemError> {
        for (index, derivation) in self.derivations.iter().enumerate() {
            let id = DerivationId::new(index);
            if !(derivation.time.0.is_finite() && derivation.time.0 >= 0.0) {
                return Err(ProblemError::BadTime { derivation: id });
            }
            for &value in derivation.inputs.iter().chain(&derivation.outputs) {
                self.known_value(value, || format!("derivation {id} ({})", derivation.name))?;
            }
            for &value in &derivation.outputs {
                if self.values[value.index()].resident {
                    return Err(ProblemError::ResidentComputed { value, derivation: id });
                }
                self.derivations_of[value.index()].push(id);
            }
            if let Some(base) = derivation.alias {
                let bad = |reason| Err(ProblemError::BadView { derivation: id, reason });
                match derivation.outputs[..] {
                    [value] if self.values[value.index()].bytes == Bytes(0) => {}
                    _ => return bad("it does not have exactly one output of zero bytes"),
                }
                if !derivation.inputs.contains(&base) {
                    return bad("its base is not one of its inputs");
                }
            }
        }
        Ok(())
    }

    fn check_order(&self) -> Result<(), ProblemError> {
        let mut computed: Vec<bool> = self.values.iter().map(|v| v.resident).collect();
        for &id in &self.order {
            let Some(derivation) = self.derivations.get(id.index()) else {
                return Err(ProblemError::UnknownId { what: "the order".into(), id: id.to_string() });
            };
            let early = derivation.inputs.iter().any(|v| !computed[v.index()]);
            let twice = derivation.outputs.iter().any(|v| computed[v.index()]);
            if early || twice {
                return Err(ProblemError::BadOrder { derivation: id });
            }
            for &value in &derivation.outputs {
                computed[value.index()] = true;
            }
        }
        for &value in &self.outputs {
            self.known_value(value, || "the output list".into())?;
            if !computed[value.index()] {
                return Err(ProblemError::NoDerivation { value });
            }
        }
        Ok(())
    }

    /// The problem's name, as plans name it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All values, indexed by [`ValueId`].
    #[must_use]
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// One value.
    #[must_use]
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.index()]
    }

    /// All derivations, indexed by [`DerivationId`].
    #[must_use]
    pub fn derivations(&self) -> &[Derivation] {
        &self.derivations
    }

    /// One derivation.
    #[must_use]
    pub fn derivation(&self, id: DerivationId) -> &Derivation {
        &self.derivations[id.index()]
    }

    /// The derivations that yield `value`, in id order.
    #[must_use]
    pub fn derivations_of(&self, value: ValueId) -> &[DerivationId] {
        &self.derivations_of[value.index()]
    }

    /// The program without rematerialisation, in its own order.
    #[must_use]
    pub fn order(&self) -> &[DerivationId] {
        &self.order
    }

    /// Values that must be live at the end.
    #[must_use]
    pub fn outputs(&self) -> &[ValueId] {
        &self.outputs
    }

    /// Time of the program without rematerialisation: the denominator of overhead.
    #[must_use]
    pub fn base_time(&self) -> Micros {
        self.order.iter().map(|&d| self.derivation(d).time).sum()
    }

    /// Bytes of the constant residents, which every peak excludes.
    #[must_use]
    pub fn resident_bytes(&self) -> Bytes {
        self.values.iter().filter(|v| v.resident).map(|v| v.bytes).sum()
    }
}
