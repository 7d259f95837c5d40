//! The requested results of a call, and their memory in a chunk.

use crate::backend::gpu::Region;
use crate::blocks::Chunk;
use crate::sshopm::algorithm::Outputs;
use crate::tensor::Tensor;

macro_rules! places {
    ($($name:ident),*) => {
        /// Index of each result in the list of the chunk's outputs.
        #[derive(Default)]
        pub(super) struct Places {
            $(pub(super) $name: Option<usize>,)*
            pub(super) peaks: Option<usize>,
        }

        impl Places {
            /// Lists the requested outputs with their names, and their indices in the list.
            pub(super) fn take<'t>(outputs: &'t mut Outputs<'_, '_>) -> (Self, Vec<(&'static str, &'t mut Tensor)>) {
                let mut places = Self::default();
                let mut list: Vec<(&'static str, &mut Tensor)> = Vec::with_capacity(18);
                $(if let Some(tensor) = outputs.results.$name.as_deref_mut() {
                    places.$name = Some(list.len());
                    list.push((stringify!($name), tensor));
                })*
                if let Some((peaks, _)) = &mut outputs.peaks {
                    places.peaks = Some(list.len());
                    list.push(("peaks", &mut **peaks));
                }
                (places, list)
            }
        }
    };
}
places!(
    count,
    values,
    vectors,
    residuals,
    classes,
    hessian,
    basins,
    status,
    start_values,
    start_vectors,
    start_residuals,
    start_iterations,
    start_shifts,
    start_status,
    start_violations,
    found
);

/// Regions of a chunk's scratch memory, by purpose.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) bytes: Vec<usize>,
    pub(super) count: Option<usize>,
    pub(super) found: Option<usize>,
    pub(super) status: Option<usize>,
    pub(super) start_values: Option<usize>,
    pub(super) start_vectors: Option<usize>,
    pub(super) start_residuals: Option<usize>,
    pub(super) start_status: Option<usize>,
    pub(super) starts: Option<usize>,
    pub(super) entries: Option<usize>,
}

impl Scratch {
    pub(super) fn add(&mut self, bytes: usize) -> Option<usize> {
        self.bytes.push(bytes);
        Some(self.bytes.len() - 1)
    }
}

/// The chunk's output at index `place`, else its scratch region at `scratch`.
pub(super) fn pick<'c>(chunk: &Chunk<'c>, place: Option<usize>, scratch: Option<usize>) -> Option<Region<'c>> {
    match (place, scratch) {
        (Some(at), _) => chunk.outputs.get(at).map(|f| f.region),
        (None, Some(at)) => chunk.scratch.get(at).copied(),
        (None, None) => None,
    }
}
