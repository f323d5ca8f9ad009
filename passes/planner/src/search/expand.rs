//! From runs of tasks back to a plan of the problem, views included.

use super::core::Core;
use super::ids::TaskId;
use crate::{DerivationId, Plan, Problem, ValueId};

/// The plan that runs `tasks` in order, and views as they are needed.
/// Linear time in the plan's length.
pub(super) fn expand(problem: &Problem, core: &Core, tasks: &[TaskId]) -> Plan {
    let mut expansion = Expansion {
        problem,
        core,
        copy_of: vec![0; core.stores.len()],
        viewed: vec![NEVER; problem.values().len()],
        computes: Vec::with_capacity(tasks.len()),
    };
    for &task in tasks {
        expansion.run(task);
    }
    for &output in problem.outputs() {
        expansion.view(output);
    }
    Plan::from_computes(problem, &expansion.computes)
}

/// A view that was not made yet.
const NEVER: u32 = u32::MAX;

struct Expansion<'p> {
    problem: &'p Problem,
    core: &'p Core,
    /// Per store: how often it was made.
    copy_of: Vec<u32>,
    /// Per view: the copy of its root that it views.
    viewed: Vec<u32>,
    computes: Vec<DerivationId>,
}

impl Expansion<'_> {
    fn run(&mut self, task: TaskId) {
        let task = self.core.task(task);
        for &input in &self.problem.derivation(task.derivation).inputs {
            self.view(input);
        }
        self.computes.push(task.derivation);
        task.outputs.iter().for_each(|s| self.copy_of[s.index()] += 1);
    }

    /// Makes a folded view of the present copy of its root, and the views on the way.
    fn view(&mut self, value: ValueId) {
        let mut chain = Vec::new();
        let mut at = value;
        while let Some(derivation) = self.core.folded[at.index()] {
            let root = self.core.store_of[at.index()];
            let copy = root.map_or(0, |store| self.copy_of[store.index()]);
            if std::mem::replace(&mut self.viewed[at.index()], copy) == copy {
                break;
            }
            chain.push(derivation);
            match self.problem.derivation(derivation).alias {
                Some(base) => at = base,
                None => break,
            }
        }
        self.computes.extend(chain.into_iter().rev());
    }
}
