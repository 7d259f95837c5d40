//! The caller's side of a program: the objects that it created and destroyed, and its memory.

use std::ffi::c_void;
use std::ptr::null;

use purlin::ffi::*;

use crate::fdk::Shape;
use crate::options;
use crate::program::c;
use crate::source::Source;

/// Bytes of the largest buffer of a program.
const LARGEST: usize = 1 << 16;
/// Bytes that a context may allocate.
pub const LIMIT: i64 = 1 << 20;

/// Handles of one type: the live ones, and those that were destroyed.
pub struct Kind<T> {
    pub live: Vec<*mut T>,
    dead: Vec<*mut T>,
}

impl<T> Kind<T> {
    const fn new() -> Self {
        Self { live: Vec::new(), dead: Vec::new() }
    }

    /// A handle: mostly live, at times destroyed, NULL, of another type or invented.
    pub fn pick(&self, source: &mut Source<'_>) -> *mut T {
        let choice = source.below(40);
        match choice {
            0 => std::ptr::null_mut(),
            1 if !self.dead.is_empty() => self.dead[source.below(self.dead.len())],
            2 => {
                // Looks like a handle of some type. It may happen to be a live one of this type.
                let kind = source.below(TYPES + 1) << 56;
                std::ptr::without_provenance_mut(kind | source.below(3) << 24 | source.below(20))
            }
            _ if self.live.is_empty() => std::ptr::null_mut(),
            _ => self.live[source.below(self.live.len())],
        }
    }

    /// Records the result of a create function.
    pub fn made(&mut self, status: purlin_status, handle: *mut T) {
        if status == purlin_status::PURLIN_SUCCESS {
            assert!(!handle.is_null() && !self.live.contains(&handle), "a new handle is a new one");
            self.live.push(handle);
        } else {
            assert!(handle.is_null(), "a failed call has left its output alone");
        }
    }

    /// Records the result of a destroy function, which must succeed for NULL and for live objects.
    pub fn destroyed(&mut self, status: purlin_status, handle: *mut T) {
        let place = self.live.iter().position(|h| *h == handle);
        assert_eq!(status == purlin_status::PURLIN_SUCCESS, handle.is_null() || place.is_some());
        if let Some(place) = place {
            self.dead.push(self.live.swap_remove(place));
        }
    }
}

/// Makes [`World`] with a field for each type of object: its name, the type, and the function that destroys one.
macro_rules! world {
    ($($field:ident: $object:ident, $destroy:ident;)+) => {
        /// All objects and memory of a program.
        pub struct World {
            pub contexts: Kind<purlin_context>,
            $(pub $field: Kind<$object>,)+
            /// Pairs that the eigensolvers were made for.
            pub pairs: Vec<(*mut purlin_lanczos, i64)>,
            /// Ranks that the decompositions were made with.
            pub ranks: Vec<(*mut purlin_rsvd, i64)>,
            /// Sizes of the reconstructions that were made.
            pub shapes: Vec<(*mut purlin_fdk, Shape)>,
            /// Memory in use; it lives to the end, since a handle may live as long. Words of 16 bytes, for any alignment.
            buffers: Vec<Vec<u128>>,
            /// Memory that is never reused.
            kept: Vec<Vec<u128>>,
            /// Capsules that were exported and not yet deleted.
            pub capsules: Vec<*mut c_void>,
        }

        /// Number of types of objects.
        const TYPES: usize = 1 + [$(stringify!($field)),+].len();

        impl World {
            fn empty() -> Self {
                Self {
                    contexts: Kind::new(),
                    $($field: Kind::new(),)+
                    pairs: Vec::new(),
                    ranks: Vec::new(),
                    shapes: Vec::new(),
                    buffers: Vec::new(),
                    kept: Vec::new(),
                    capsules: Vec::new(),
                }
            }

            /// Number of live handles, of all types.
            pub fn live(&self) -> i64 {
                (self.contexts.live.len() $(+ self.$field.live.len())+) as i64
            }

            /// Destroys all objects but the contexts.
            fn destroy_objects(&mut self) {
                $(for object in std::mem::take(&mut self.$field.live) {
                    assert_eq!(c!($destroy(object)), purlin_status::PURLIN_SUCCESS);
                })+
            }
        }
    };
}

world! {
    streams: purlin_stream, purlin_stream_destroy;
    groups: purlin_group, purlin_group_destroy;
    tensors: purlin_tensor, purlin_tensor_destroy;
    matrices: purlin_matrix, purlin_matrix_destroy;
    sources: purlin_source, purlin_source_destroy;
    sinks: purlin_sink, purlin_sink_destroy;
    fdks: purlin_fdk, purlin_fdk_destroy;
    pcas: purlin_pca, purlin_pca_destroy;
    rsvds: purlin_rsvd, purlin_rsvd_destroy;
    rpcas: purlin_rpca, purlin_rpca_destroy;
    plans: purlin_spmv, purlin_spmv_destroy;
    diffusions: purlin_dwi, purlin_dwi_destroy;
    solvers: purlin_sshopm, purlin_sshopm_destroy;
    eigensolvers: purlin_lanczos, purlin_lanczos_destroy;
    environments: purlin_tt_environments, purlin_tt_environments_destroy;
    contractions: purlin_tt_contraction, purlin_tt_contraction_destroy;
    train_matrices: purlin_tt_matrix, purlin_tt_matrix_destroy;
    trains: purlin_tt, purlin_tt_destroy;
}

impl World {
    /// A world with one context.
    pub fn new() -> Self {
        let mut world = Self::empty();
        let options = options::plain_context();
        let mut context = std::ptr::null_mut();
        let status = c!(purlin_context_create(&raw const options, &raw mut context));
        world.contexts.made(status, context);
        world
    }

    /// The context of the program's beginning, as long as it lives.
    pub fn home(&self) -> *const purlin_context {
        self.contexts.live.first().map_or(null(), |c| c.cast_const())
    }

    /// Memory of at least `bytes` with arbitrary contents, at times memory that is already in use. NULL, which purlin
    /// refuses, if `bytes` is too large, and now and then for no reason.
    pub fn buffer(&mut self, source: &mut Source<'_>, bytes: Option<usize>) -> *mut c_void {
        let Some(bytes) = bytes.filter(|b| *b <= LARGEST) else { return std::ptr::null_mut() };
        if source.once_in(40) {
            return std::ptr::null_mut();
        }
        if source.once_in(8)
            && let Some(old) = self.buffers.iter_mut().find(|b| b.len() * 16 >= bytes)
        {
            return old.as_mut_ptr().cast();
        }
        let mut buffer = vec![0u128; bytes.div_ceil(16)];
        let pattern = source.below(4);
        let (a, b) = (source.float(), source.float());
        for (k, word) in buffer.iter_mut().enumerate() {
            let wave = |s: f64| ((k as f64) * s).sin();
            let pair = match pattern {
                // Numbers of double precision, of single precision, small integers, any bits.
                0 => [wave(0.7).to_bits(), wave(1.3).to_bits()],
                1 => [0.7f32, 1.3].map(|s| {
                    let x = u64::from((wave(f64::from(s)) as f32).to_bits());
                    x << 32 | x
                }),
                2 => [k as u64 % 3, 1],
                _ => [a.to_bits(), b.to_bits().rotate_left(k as u32)],
            };
            *word = u128::from(pair[0]) << 64 | u128::from(pair[1]);
        }
        self.buffers.push(buffer);
        self.buffers.last_mut().map_or(std::ptr::null_mut(), |b| b.as_mut_ptr().cast())
    }

    /// Puts bytes into memory that lives as long as the world. It is not used again: the indices of a
    /// matrix must not change.
    pub fn keep(&mut self, bytes: Vec<u8>) -> *mut c_void {
        let mut buffer = vec![0u128; bytes.len().div_ceil(16).max(1)];
        // SAFETY: the buffer is at least as long.
        unsafe { buffer.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        self.kept.push(buffer);
        self.kept.last_mut().map_or(std::ptr::null_mut(), |b| b.as_mut_ptr().cast())
    }

    /// Destroys everything, in the order things are found.
    pub fn end(mut self) {
        for capsule in std::mem::take(&mut self.capsules) {
            crate::base::delete_capsule(capsule);
        }
        self.destroy_objects();
        for context in std::mem::take(&mut self.contexts.live) {
            let mut info = options::context_info();
            assert_eq!(c!(purlin_context_properties(context, &raw mut info)), purlin_status::PURLIN_SUCCESS);
            assert_eq!(info.host_memory_used, 0, "memory of destroyed objects is still charged");
            assert_eq!(c!(purlin_context_destroy(context)), purlin_status::PURLIN_SUCCESS);
        }
    }
}

/// Bytes of an array with these dimensions and strides; `None` if one is negative or the product overflows.
pub fn extent(dims: &[i64], strides: Option<&[i64]>, element: usize) -> Option<usize> {
    let mut last = 0i128;
    let mut packed = 1i128;
    for (k, d) in dims.iter().map(|d| i128::from(*d)).enumerate() {
        if d < 0 {
            return None;
        }
        let step = match strides {
            Some(s) => i128::from(*s.get(k)?),
            None => packed,
        };
        if step < 0 {
            return None;
        }
        packed = packed.checked_mul(d.max(1))?;
        last = last.checked_add(step.checked_mul((d - 1).max(0))?)?;
    }
    let elements = if dims.contains(&0) { 0 } else { last + 1 };
    usize::try_from(elements).ok()?.checked_mul(element)
}

/// Bytes of an element of a type; 16 for a number that is no type.
pub fn element_size(dtype: i32) -> usize {
    match dtype {
        PURLIN_U8 | PURLIN_I8 => 1,
        PURLIN_U16 | PURLIN_I16 | PURLIN_F16 => 2,
        PURLIN_F32 | PURLIN_I32 | PURLIN_U32 => 4,
        PURLIN_F64 | PURLIN_I64 | PURLIN_CF32 => 8,
        _ => 16,
    }
}

/// Packed entries of a symmetric tensor, C(order + dimension - 1, order); `None` for no sizes or many entries.
pub fn packed_count(order: i64, dimension: i64) -> Option<i64> {
    if order < 2 || dimension < 1 || order > 64 || dimension > 64 {
        return None;
    }
    let mut count = 1i128;
    for k in 1..=i128::from(order) {
        count = count.checked_mul(i128::from(dimension) - 1 + k)? / k;
    }
    i64::try_from(count).ok()
}
