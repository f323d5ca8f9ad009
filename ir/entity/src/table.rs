//! Tables indexed by typed ids.

use crate::EntityId;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A vector whose index is a typed id.
#[derive(Clone, PartialEq, Eq)]
pub struct EntityVec<K, V> {
    items: Vec<V>,
    key: PhantomData<fn(K) -> K>,
}

impl<K: EntityId, V> EntityVec<K, V> {
    /// An empty table.
    #[must_use]
    pub const fn new() -> Self {
        Self { items: Vec::new(), key: PhantomData }
    }

    /// An empty table with room for `capacity` entities.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { items: Vec::with_capacity(capacity), key: PhantomData }
    }

    /// A side table: `count` copies of `value`.
    #[must_use]
    pub fn filled(value: V, count: usize) -> Self
    where
        V: Clone,
    {
        Self { items: vec![value; count], key: PhantomData }
    }

    /// Adds an entity and returns its id.
    pub fn push(&mut self, value: V) -> K {
        let id = K::from_index(self.items.len());
        self.items.push(value);
        id
    }

    /// Number of entities.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no entity.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The id that the next [`push`](Self::push) returns.
    #[must_use]
    pub fn next_id(&self) -> K {
        K::from_index(self.items.len())
    }

    /// The entity, if the id is of this table.
    #[must_use]
    pub fn get(&self, id: K) -> Option<&V> {
        self.items.get(id.index())
    }

    /// All ids in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator + use<K, V> {
        (0..self.items.len()).map(K::from_index)
    }

    /// All entities in id order.
    pub fn values(&self) -> std::slice::Iter<'_, V> {
        self.items.iter()
    }

    /// All entities with their ids.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &V)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(index, value)| (K::from_index(index), value))
    }

    /// Grows the side table to `count` entities.
    pub fn resize(&mut self, count: usize, value: V)
    where
        V: Clone,
    {
        self.items.resize(count, value);
    }
}

impl<K: EntityId, V> Default for EntityVec<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: EntityId, V> Index<K> for EntityVec<K, V> {
    type Output = V;
    fn index(&self, id: K) -> &V {
        &self.items[id.index()]
    }
}

impl<K: EntityId, V> IndexMut<K> for EntityVec<K, V> {
    fn index_mut(&mut self, id: K) -> &mut V {
        &mut self.items[id.index()]
    }
}

impl<K: EntityId, V> FromIterator<V> for EntityVec<K, V> {
    fn from_iter<I: IntoIterator<Item = V>>(items: I) -> Self {
        Self { items: items.into_iter().collect(), key: PhantomData }
    }
}

impl<K: EntityId + fmt::Display, V: fmt::Debug> fmt::Debug for EntityVec<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(id, value)| (id.to_string(), value))).finish()
    }
}
