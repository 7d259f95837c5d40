//! How a contraction is computed.

use super::info::Kernel;
use crate::choice::numbered;

numbered!(Algorithm, Auto, Open, Full, Reduced, Blocked, Halves, Power);
numbered!(Scaling, Auto, Always, Never);
numbered!(Conjugate, Bra, None);
numbered!(Math, Default, Tf32, Tf32x3, Gemm3m, Int8x6);
numbered!(NormWay, Auto, Inner, Triangle, Qr);

/// How an inner product is contracted. The numbers are those of the C interface. P stands for the number of boundary
/// pairs, r_c s_c at the cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Algorithm {
    /// The cost model chooses.
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

/// When intermediate results are scaled by powers of two, which is exact. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Scaling {
    /// When d > 30 or a bound on the magnitude leaves 3/4 of the exponent range.
    Auto = 0,
    /// At every site.
    Always = 1,
    /// Never: overflow gives infinities.
    Never = 2,
}

/// Whether the first argument is conjugated. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Conjugate {
    /// The bra is: an inner product.
    Bra = 0,
    /// Nothing is: the bilinear form.
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
    /// f32 products of matrices from 2048 rows and columns on as three in TF32 of factors split into two parts, smaller ones as
    /// [`Math::Default`], which is faster there. Closer than [`Math::Tf32`], but tensor cores cut sums off, and what that costs
    /// adds up along a train.
    Tf32x3 = 2,
    /// Complex products by three real ones.
    Gemm3m = 3,
    /// Large products of real f32 matrices as six of 8-bit digits, which tensor cores add up exactly: as accurate as f32
    /// relative to the norms of rows and columns, not to the single products.
    Int8x6 = 4,
}

/// How the norm of an open train is found. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum NormWay {
    /// The fastest that is stable.
    Auto = 0,
    /// The bits of the inner product.
    Inner = 1,
    /// One triangle of each environment, which is about 1.3 times as fast as the inner product from rank 192 on.
    Triangle = 2,
    /// By QR factors: nothing is squared, so small norms keep all their digits.
    Qr = 3,
}

/// Options of a contraction. The fields are those of the C interface.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// How the pairs are contracted.
    pub algorithm: Algorithm,
    /// How the arithmetic is carried out; `None` to choose by the ranks.
    pub kernel: Option<Kernel>,
    /// When results are scaled.
    pub scaling: Scaling,
    /// What is conjugated.
    pub conjugate: Conjugate,
    /// Arithmetic of products.
    pub math: Math,
    /// How a norm is found.
    pub norm_way: NormWay,
    /// Bond at which a ring is cut, 0 to d - 1; `None` for the cheapest.
    pub cut: Option<usize>,
    /// Boundary pairs at a time; 0 to choose.
    pub block: usize,
    /// How often the cores are gone round: the trains have `repeat` d sites, as a uniform train of a cell of d cores has.
    pub repeat: u64,
    /// Bytes of workspace; 0 for 64 MiB on the CPU and 256 MiB on a GPU.
    pub workspace_limit: u64,
    /// The real part alone of what is real for a Hermitian operator.
    pub assume_hermitian: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::Auto,
            kernel: None,
            scaling: Scaling::Auto,
            conjugate: Conjugate::Bra,
            math: Math::Default,
            norm_way: NormWay::Auto,
            cut: None,
            block: 0,
            repeat: 1,
            workspace_limit: 0,
            assume_hermitian: false,
        }
    }
}
