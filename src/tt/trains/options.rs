//! Options of contractions: method, arithmetic and memory.

use crate::choice::{numbered, reported, with_defaults};
use crate::error::Error;

numbered!(Method, Auto, Open, Full, Reduced, Blocked, Halves, Power);
numbered!(Scaling, Auto, Always, Never);
numbered!(Conjugate, Bra, None);
numbered!(Math, Default, Tf32, Tf32x3, Gemm3m, Int8x6);
numbered!(NormMethod, Auto, Inner, Triangle, Qr);
reported!(Kernel);

/// Method of an inner product. The numbers are those of the C interface. P is the number of boundary pairs, r_c s_c
/// at the cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Method {
    /// The cost model chooses from shapes and workspace.
    Auto = 0,
    /// One pair: for trains that are open at some bond.
    Open = 1,
    /// All pairs at once: most memory.
    Full = 2,
    /// One pair at a time: least memory.
    Reduced = 3,
    /// As many pairs at a time as memory and cache allow.
    Blocked = 4,
    /// The dense tensors of both halves: for short trains of large ranks.
    Halves = 5,
    /// Repeated squaring of the transfer matrix: for uniform trains.
    Power = 6,
}

/// Kernel for the arithmetic. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Kernel {
    /// Matrix products of a library.
    Products = 0,
    /// A kernel of purlin's own that keeps the environment in cache, registers or shared memory for the whole train.
    Chain = 1,
}

/// When intermediate results are scaled by powers of two, which is exact. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Scaling {
    /// When d > 30 or a bound on the magnitude leaves 3/4 of the exponent range.
    Auto = 0,
    /// At every site, whatever the magnitudes.
    Always = 1,
    /// Never: overflow gives infinities, underflow zeros.
    Never = 2,
}

/// Whether the first argument is conjugated. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Conjugate {
    /// The first argument (bra) is conjugated: an inner product.
    Bra = 0,
    /// No conjugation: the bilinear form.
    None = 1,
}

/// Arithmetic of products on a GPU. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Math {
    /// IEEE arithmetic of the element type.
    Default = 0,
    /// f32 products in TF32: 10 bits of mantissa.
    Tf32 = 1,
    /// f32 products of matrices with at least 2048 rows and columns, as three TF32 products of factors split into two
    /// parts. Smaller products use [`Math::Default`], which is faster there. More accurate than [`Math::Tf32`], but
    /// tensor cores truncate sums, and these errors add up along a train.
    Tf32x3 = 2,
    /// Complex products by three real ones.
    Gemm3m = 3,
    /// Large products of real f32 matrices, as six products of 8-bit digits, which tensor cores add up exactly. As
    /// accurate as f32 relative to the norms of rows and columns, but not relative to each single product.
    Int8x6 = 4,
}

/// Method for the norm of a train. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum NormMethod {
    /// The fastest that is stable.
    Auto = 0,
    /// As the inner product, with the same bits.
    Inner = 1,
    /// One triangle of each environment of an open train, which is about 1.3 times as fast as the inner product from rank 192 on.
    Triangle = 2,
    /// By QR factors. No number is squared, so small norms keep all their digits.
    Qr = 3,
}

with_defaults! {
    /// Options of a contraction. The fields are those of the C interface.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Options {
        /// Method of an inner product.
        pub method: Method = Method::Auto,
        /// Kernel for the arithmetic; `None` to choose by the ranks.
        pub kernel: Option<Kernel> = None,
        /// When intermediate results are scaled.
        pub scaling: Scaling = Scaling::Auto,
        /// Whether the first argument is conjugated.
        pub conjugate: Conjugate = Conjugate::Bra,
        /// Arithmetic of products on a GPU.
        pub math: Math = Math::Default,
        /// Method for norms and distances.
        pub norm_method: NormMethod = NormMethod::Auto,
        /// Bond at which a ring is cut, 0 to d - 1; `None` for the cheapest.
        pub cut: Option<usize> = None,
        /// Boundary pairs that are contracted together; 0 to choose.
        pub block: usize = 0,
        /// Number of repetitions of the cores: the trains have `repeat` d sites, like a uniform train whose cell has d
        /// cores.
        pub repeat: u64 = 1,
        /// Bytes of workspace; 0 for 64 MiB on the CPU and 256 MiB on a GPU.
        pub workspace_limit: u64 = 0,
        /// Return only the real part of results that are real for a Hermitian operator.
        pub assume_hermitian: bool = false,
    }
}

/// The error for a workspace limit that is too small.
pub fn too_little(limit: u64, needed: f64) -> Error {
    Error::invalid("workspace_limit", format!("is {limit}, at least {needed:.0} bytes are needed"))
}
