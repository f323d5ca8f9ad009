//! Typed ids.

/// What [`EntityVec`](crate::EntityVec) and [`EntitySet`](crate::EntitySet) need of a key.
/// Implemented by [`define_id!`](crate::define_id).
pub trait EntityId: Copy + Eq {
    /// The id of the entity at `index`.
    fn from_index(index: usize) -> Self;
    /// The entity's position in its table.
    fn index(self) -> usize;
}

/// Defines a `u32` newtype that implements `EntityId` and
/// prints as its prefix and number.
///
/// ```
/// ckpt_entity::define_id! {
///     /// A thing.
///     pub struct ThingId("thing");
/// }
/// # use ckpt_entity::EntityId;
/// assert_eq!(ThingId::from_index(7).to_string(), "thing7");
/// ```
#[macro_export]
macro_rules! define_id {
    ($(#[$doc:meta])* $vis:vis struct $name:ident($prefix:literal);) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name(u32);

        impl $crate::EntityId for $name {
            fn from_index(index: usize) -> Self {
                debug_assert!(index < u32::MAX as usize, "more than 2^32 - 1 entities");
                Self(index as u32)
            }

            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::write!(f, ::std::concat!($prefix, "{}"), self.0)
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }
    };
}
