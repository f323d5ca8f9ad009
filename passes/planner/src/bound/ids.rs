//! Typed indices into a [`Relaxed`](super::relaxed::Relaxed) problem.

crate::ids::define_index!(
    /// A storage of the relaxed problem: a root value and all its views.
    StoreId
);
crate::ids::define_index!(
    /// An action of the relaxed problem: something that every legal plan does.
    ActionId
);
