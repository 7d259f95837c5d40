//! The kernels of `cuda/fdk.cu` and `cuda/fdk_backproject.cu`. Tables that describe a scan are uploaded once; a batch names
//! its views by their numbers in the scan.

mod backproject;
mod convert;
mod counters;
mod ellipsoids;
mod filter;
mod layout;
mod raw;
mod store;
mod window;

pub use backproject::{Backprojection, Slab, VIEW_NUMBERS, view_numbers};
pub use convert::{Convert, CountImage, Counts, PixelWeights, RAY_NUMBERS};
pub use counters::{COUNTERS, OVERFLOWN};
pub use ellipsoids::{ELLIPSOID_NUMBERS, Ellipsoids, ray_numbers};
pub use filter::{FILTER_NUMBERS, Filter, MAX_LENGTH, Ramp, Rays, falls, filter_numbers, roots};
pub use layout::Layout;
pub use raw::Raw;
pub use store::{Fov, Store};
pub use window::{Kind, Mirror, Shape, Width};
