//! Values with several derivations in a [`Relaxed`](super::relaxed::Relaxed) problem.

use super::ids::StoreId;
use super::relax::{Builder, NONE};
use super::relaxed::{Action, Detour};
use crate::{DerivationId, ValueId};

/// A need that nothing else meets.
const DIRECT: u64 = u64::MAX;

impl Builder<'_> {
    /// What every derivation of `value` needs: values that all of them read,
    /// roots of which all of them read some view, and what such inputs come
    /// from in the only way.
    pub(super) fn common_inputs(&self, value: ValueId) -> Vec<ValueId> {
        let needs = |id: DerivationId| {
            let inputs = &self.problem.derivation(id).inputs;
            let mut needs = self.roots_of(inputs);
            needs.extend(inputs.iter().map(|v| v.index() as u32));
            for only in inputs.iter().filter_map(|&v| self.only_derivation(v)) {
                let further = &self.problem.derivation(only).inputs;
                needs.extend(self.roots_of(further));
                needs.extend(further.iter().map(|v| v.index() as u32));
            }
            needs
        };
        let mut derivations = self.derivations_of(value);
        let Some(first) = derivations.next() else { return Vec::new() };
        let mut common = needs(first);
        for other in derivations {
            let needs = needs(other);
            common.retain(|v| needs.contains(v));
        }
        common.into_iter().map(|v| ValueId::new(v as usize)).collect()
    }

    /// The action for a value with several derivations.
    pub(super) fn choice(&self, value: ValueId, store_of: &[u32], scaled: &impl Fn(f64) -> u64) -> Action {
        let own = value.index() as u32;
        let mut common: Option<Vec<u32>> = None;
        let mut time = u64::MAX;
        let mut first = None;
        for id in self.derivations_of(value) {
            let derivation = self.problem.derivation(id);
            first = first.or(Some(id));
            let several = |&v: &ValueId| self.only_derivation(v).is_none();
            // A derivation that every plan runs is charged by its own action.
            let shared = !self.required_derivation[id.index()] && derivation.outputs.iter().all(several);
            let share = if shared { scaled(derivation.time.0) / derivation.outputs.len() as u64 } else { 0 };
            time = time.min(share);
            let inputs = self.roots_of(&derivation.inputs);
            match &mut common {
                None => common = Some(inputs),
                Some(common) => common.retain(|r| inputs.contains(r)),
            }
        }
        let mut common = common.unwrap_or_default();
        common.retain(|&r| r != own && store_of[r as usize] != NONE);
        let workspace = |id: DerivationId| {
            let derivation = self.problem.derivation(id);
            let touched: Vec<ValueId> =
                derivation.inputs.iter().chain(&derivation.outputs).copied().collect();
            derivation.workspace.0 + self.bytes_without_store(&touched)
        };
        let workspace = self.derivations_of(value).map(workspace).min().unwrap_or(0);
        Action {
            derivation: first.unwrap_or(DerivationId::new(0)),
            time: if time == u64::MAX { 0 } else { time },
            once: false,
            inputs: common.iter().map(|&r| StoreId::new(store_of[r as usize] as usize)).collect(),
            outputs: Vec::new(),
            detour: self.detour(value, store_of, &common),
            workspace,
        }
    }

    /// The needs of all derivations of `value` that some meet on a detour.
    /// `common` are the roots that all read directly.
    fn detour(&self, value: ValueId, store_of: &[u32], common: &[u32]) -> Option<Detour> {
        let mut shared: Option<Vec<(u32, u64)>> = None;
        for id in self.derivations_of(value) {
            let needs = self.needs(id);
            let least = |&(root, bytes): &(u32, u64)| {
                let other = needs.iter().filter(|(r, _)| *r == root).map(|(_, b)| *b).max()?;
                Some((root, bytes.min(other)))
            };
            shared = Some(match shared {
                None => needs.clone(),
                Some(shared) => shared.iter().filter_map(least).collect(),
            });
        }
        let mut shared = shared.unwrap_or_default();
        shared.retain(|&(root, bytes)| {
            let known = store_of[root as usize] != NONE && root as usize != value.index();
            known && !common.contains(&root) && bytes > 0 && bytes != DIRECT
        });
        shared.sort_unstable();
        shared.dedup_by_key(|(root, _)| *root);
        let bytes = shared.iter().map(|(_, bytes)| *bytes).min()?;
        let store = |&(root, _): &(u32, u64)| StoreId::new(store_of[root as usize] as usize);
        Some(Detour { stores: shared.iter().map(store).collect(), bytes })
    }

    /// Roots that a derivation needs, with what it keeps otherwise: it reads
    /// them, or something that comes from them in the only way. The bytes of
    /// the latter are shared among all values with several derivations that
    /// have one that reads it.
    fn needs(&self, id: DerivationId) -> Vec<(u32, u64)> {
        let mut needs = Vec::new();
        for root in self.roots_of(&self.problem.derivation(id).inputs) {
            let between = ValueId::new(root as usize);
            needs.push((root, DIRECT));
            if self.required_value[between.index()] {
                continue;
            }
            let Some(only) = self.only_derivation(between) else { continue };
            if self.required_derivation[only.index()] {
                continue;
            }
            let readers = self.choice_readers[between.index()].max(1);
            let bytes = self.problem.value(between).bytes.0 / readers;
            let further = self.roots_of(&self.problem.derivation(only).inputs);
            needs.extend(further.into_iter().map(|root| (root, bytes)));
        }
        needs
    }

    /// Counts, per root, the values with several derivations that have one that reads it.
    pub(super) fn count_choice_readers(&mut self) {
        for index in 0..self.problem.values().len() {
            let value = ValueId::new(index);
            if !self.required_value[index] || self.only_derivation(value).is_some() {
                continue;
            }
            let derivations: Vec<DerivationId> = self.derivations_of(value).collect();
            let inputs = derivations.iter().flat_map(|&d| &self.problem.derivation(d).inputs);
            for root in self.roots_of(&inputs.copied().collect::<Vec<_>>()) {
                self.choice_readers[root as usize] += 1;
            }
        }
    }
}
