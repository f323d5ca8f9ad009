//! Typed indices into a [`Relaxed`](super::relaxed::Relaxed) problem.

macro_rules! define_index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(super) struct $name(u32);

        impl $name {
            /// The id of the `index`-th entity; there are never more than `u32::MAX`.
            pub(super) fn new(index: usize) -> Self {
                debug_assert!(u32::try_from(index).is_ok());
                Self(index as u32)
            }

            /// The position in the table.
            pub(super) fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

define_index!(
    /// A storage of the relaxed problem: a root value and all its views.
    StoreId
);
define_index!(
    /// An action of the relaxed problem: something that every legal plan does.
    ActionId
);
