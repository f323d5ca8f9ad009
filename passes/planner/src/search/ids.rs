//! Typed indices of the search.

crate::ids::define_index!(
    /// A storage: a root value together with all its views.
    StoreId
);
crate::ids::define_index!(
    /// A way to make one or several stores.
    TaskId
);
crate::ids::define_index!(
    /// One run of a task in a timeline.
    RunId
);
