//! The types that C knows by handle.

use super::handle::{AnyTable, Object, Table};

/// Makes tables of types, each with the number that its keys begin with.
macro_rules! objects {
    ($($kind:literal: $object:ty),+ $(,)?) => {
        $(impl Object for $object {
            const KIND: u8 = $kind;

            fn table() -> &'static Table<Self> {
                static TABLE: Table<$object> = Table::new();
                &TABLE
            }
        })+

        /// The numbers in use, one for each type.
        pub(super) const KINDS: &[u8] = &[$($kind),+];

        /// The tables of all types.
        pub(super) fn tables() -> [&'static dyn AnyTable; KINDS.len()] {
            [$(<$object>::table()),+]
        }
    };
}

// A new type takes the next number. That of a type that is gone is not used again.
objects! {
    1: super::context::ContextObject,
    2: crate::stream::Stream,
    3: crate::tensor::Tensor,
    4: crate::matrix::Matrix,
    5: super::source::SourceObject,
    6: super::sink::SinkObject,
    7: super::fdk::FdkObject,
    8: super::rsvd::RsvdObject,
    9: crate::rsvd::pca::Pca,
    10: crate::tensor::train::TensorTrain,
    11: crate::tensor::train::TrainMatrix,
    12: super::tt_contraction::ContractionObject,
    13: super::tt_environments::EnvironmentsObject,
    14: crate::spmv::Plan,
    15: super::group::GroupObject,
    16: super::lanczos::LanczosObject,
    17: super::rpca::RpcaObject,
    18: super::sshopm_solver::SshopmObject,
    19: super::dwi_object::DwiObject,
}

const _: () = {
    let mut k = 1;
    while k < KINDS.len() {
        assert!(KINDS[0] > 0 && KINDS[k - 1] < KINDS[k], "each type has a number of its own");
        k += 1;
    }
};
