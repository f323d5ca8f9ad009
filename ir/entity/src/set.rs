//! Sets of typed ids.

use crate::EntityId;
use std::marker::PhantomData;

/// A set of ids as a bit vector that grows on insertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntitySet<K> {
    words: Vec<u64>,
    key: PhantomData<fn(K) -> K>,
}

impl<K: EntityId> EntitySet<K> {
    /// The empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self { words: Vec::new(), key: PhantomData }
    }

    /// Adds `id`; says whether it was new.
    pub fn insert(&mut self, id: K) -> bool {
        let (word, bit) = (id.index() / 64, 1u64 << (id.index() % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        new
    }

    /// Adds all `ids`.
    pub fn extend_with(&mut self, ids: impl IntoIterator<Item = K>) {
        for id in ids {
            self.insert(id);
        }
    }

    /// Removes `id`; says whether it was there.
    pub fn remove(&mut self, id: K) -> bool {
        let there = self.contains(id);
        if there {
            self.words[id.index() / 64] &= !(1u64 << (id.index() % 64));
        }
        there
    }

    /// Whether `id` is in the set.
    #[must_use]
    pub fn contains(&self, id: K) -> bool {
        self.words.get(id.index() / 64).is_some_and(|word| word & (1u64 << (id.index() % 64)) != 0)
    }

    /// Number of ids. Linear in the largest id.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The ids in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = K> + '_ {
        let bits = |word: u64| (0..64).filter(move |bit| word & (1 << bit) != 0);
        self.words
            .iter()
            .enumerate()
            .flat_map(move |(index, &word)| bits(word).map(move |bit| K::from_index(index * 64 + bit)))
    }
}

impl<K: EntityId> Default for EntitySet<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: EntityId> FromIterator<K> for EntitySet<K> {
    fn from_iter<I: IntoIterator<Item = K>>(ids: I) -> Self {
        let mut set = Self::new();
        set.extend_with(ids);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::define_id! {
        struct Thing("t");
    }

    #[test]
    fn insertion_removal_and_order() {
        let mut set: EntitySet<Thing> = [70, 3, 64].map(Thing::from_index).into_iter().collect();
        assert!(!set.insert(Thing::from_index(3)));
        assert!(set.remove(Thing::from_index(64)));
        assert!(!set.remove(Thing::from_index(640)));
        assert_eq!(set.iter().map(EntityId::index).collect::<Vec<_>>(), [3, 70]);
        assert_eq!(set.len(), 2);
    }
}
