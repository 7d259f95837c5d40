//! Options and results of the eigenpair solvers. The numbers of the enumerations are those of the C
//! interface.

use crate::choice::with_defaults;
use crate::tensor::Tensor;

macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $code:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(i32)]
        pub enum $name { $($(#[$vdoc])* $variant = $code),* }

        crate::choice::numbered!($name, $($variant),*);
    };
}

choice! {
    /// The critical points of A x^m on the sphere to find.
    Goal {
        /// Local maxima of A x^m on the sphere.
        Maxima = 0,
        /// Local minima of A x^m on the sphere.
        Minima = 1,
        /// Local maxima, then local minima. For odd order with the canonical sign each pair is listed once, with
        /// lambda >= 0: maxima descending, then minima ascending.
        Both = 2,
    }
}

choice! {
    /// How an iterate becomes the next.
    Method {
        /// Newton's method with safeguards. In dimension 3 without a constant shift, it shifts the Hessian. Otherwise
        /// it takes power steps where a Newton step is not safe.
        Hybrid = 0,
        /// Shifted power steps alone (SS-HOPM).
        Power = 1,
    }
}

choice! {
    /// The shift of a power step.
    Shift {
        /// Computed from the curvature at the iterate: the smallest shift for which a power step is monotone.
        Adaptive = 0,
        /// [`Options::shift`], the same in every step.
        Fixed = 1,
        /// (m - 1) times the Frobenius norm, which makes every step monotone.
        Guaranteed = 2,
    }
}

choice! {
    /// The quantity that ends a start when it is small.
    Test {
        /// |A x^(m-1) - lambda x| <= tolerance * max(|lambda|, 1e-3 |A|).
        Residual = 0,
        /// The change of lambda, relative to it.
        Lambda = 1,
        /// The length of the step on the sphere.
        Step = 2,
    }
}

impl Test {
    /// The smallest tolerance that rounding allows, in units of the type's eps.
    pub fn accuracy(self) -> f64 {
        match self {
            Self::Residual => 4.0,
            Self::Lambda => 1.0,
            Self::Step => 2.0,
        }
    }
}

choice! {
    /// Start vectors, if the caller gives none.
    StartKind {
        /// Fibonacci points for dimension 3 (half the sphere for even order), else random directions.
        Auto = 0,
        /// Fibonacci points on the upper half of the sphere; dimension 3. Maxima of odd orders in the lower half
        /// can be missed.
        FibonacciHemisphere = 1,
        /// Fibonacci points on the sphere; dimension 3.
        FibonacciSphere = 2,
        /// Vertices of a subdivided icosahedron: 10 f^2 + 2 on the sphere, or 5 f^2 + 1 up to sign, from which maxima of
        /// odd orders in the other half can be missed; dimension 3.
        Icosahedral = 3,
        /// Uniform directions: normalized Gaussian vectors, different for each tensor.
        Random = 4,
        /// Normalized points of the cube, as in Kolda and Mayo's paper; not uniform. Different for each tensor.
        RandomCube = 5,
    }
}

choice! {
    /// Choice between the two representatives (lambda, x) and (+-lambda, -x) of a pair.
    Sign {
        /// Odd order: lambda >= 0 for [`Goal::Both`] and [`super::all`]. Even order: the component of largest magnitude
        /// is positive.
        Canonical = 0,
        /// The last iterate, its sign unchanged.
        Raw = 1,
    }
}

choice! {
    /// Program whose conventions the iteration follows.
    Compatibility {
        /// No other program's: tests are relative, and entries are scaled.
        None = 0,
        /// MATLAB Tensor Toolbox, `eig_sshopm`: an absolute test of lambda (1e-15), 1000 iterations, absolute tau, no
        /// scaling, raw sign, power steps.
        TensorToolbox = 1,
    }
}

choice! {
    /// How a start ended.
    StartStatus {
        /// The stopping test was met.
        Converged = 0,
        /// The iteration limit was reached.
        MaxIterations = 1,
        /// The shifted product is 0, so it has no direction.
        ZeroVector = 2,
        /// The tensor has a number that is not finite.
        Nonfinite = 3,
        /// Newton's matrix became singular ([`super::all`]).
        Singular = 4,
    }
}

choice! {
    /// How the search in a tensor ended.
    TensorStatus {
        /// Pairs were found, and none is known to be missing.
        Ok = 0,
        /// An entry is NaN or infinite: no pairs.
        Nonfinite = 1,
        /// All entries are 0: every direction is an eigenvector with lambda = 0; one pair represents all.
        Zero = 2,
        /// A multiple of the identity: every direction is an eigenvector with one lambda; one pair represents all.
        Isotropic = 3,
        /// Left out by the mask.
        Masked = 4,
        /// No start converged: no pairs.
        NoPair = 5,
        /// Diffusion MRI: the voxel has no usable signal.
        Signal = 6,
        /// Diffusion MRI: some signals were clamped.
        Clamped = 7,
        /// Pairs are missing, or may be ([`super::all`]): the numbers of pairs of each kind cannot be those of a complete
        /// set, starts ended at singular points, the last round of starts still found new pairs, or fewer than four
        /// starts reached a pair.
        Incomplete = 8,
        /// Some pairs are degenerate. A continuum of them (three or more with one lambda) is one entry.
        Degenerate = 9,
        /// Some pairs may be missing: a start did not converge, or more distinct ends were found than could be stored.
        Partial = 10,
    }
}

choice! {
    /// The type of a critical point, from the eigenvalues of the projected Hessian.
    PairClass {
        /// All negative: a strict local maximum of A x^m.
        NegativeStable = 0,
        /// All positive: a strict local minimum.
        PositiveStable = 1,
        /// Some negative, some positive: a saddle.
        Unstable = 2,
        /// At least one eigenvalue is 0 within the tolerance.
        Degenerate = 3,
        /// Not determined: an eigenvalue or the residual is not finite.
        Unclassified = 4,
    }
}

/// Value of `classes` in the rows beyond the count.
pub const NO_PAIR: i32 = -1;

with_defaults! {
    /// Options of [`super::solve`] and of [`super::all`]. Each refuses the options that only the other uses.
    /// Members that say so replace 0 by a default.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Options {
        /// Maxima, minima or both of A x^m on the sphere.
        pub goal: Goal = Goal::Maxima,
        /// How an iterate becomes the next.
        pub method: Method = Method::Hybrid,
        /// Shift of the power steps.
        pub shift_kind: Shift = Shift::Adaptive,
        /// The shift, for [`Shift::Fixed`]: at least 0 for maxima, at most 0 for minima, of either sign for both.
        pub shift: f64 = 0.0,
        /// The quantity that ends a start when it is small.
        pub test: Test = Test::Residual,
        /// Its tolerance, less than 1 but for [`Compatibility::TensorToolbox`]; 0 for 1e-10 (F64) or 1e-5 (F32). All pairs:
        /// the residual at which a pair is accepted, relative to the Frobenius norm; 0 for 1e-11 (F64) or 1e-5 (F32).
        pub tolerance: f64 = 0.0,
        /// Most iterations of a start; 0 for 500 (1000 with the Tensor Toolbox's conventions), or 200 Newton steps for
        /// all pairs.
        pub max_iterations: usize = 0,
        /// Power steps before the first Newton step; -1 for the default, none.
        pub warmup: Option<usize> = None,
        /// Curvature that remains after the adaptive shift, relative to the Frobenius norm; 0 for 1e-6.
        pub tau: f64 = 0.0,
        /// Kind of start vectors, if the caller gives none.
        pub start_kind: StartKind = StartKind::Auto,
        /// Number of starts; 0 for 32 (order up to 4) or 64 in dimension 3, twice that for odd orders, else 20 n. All
        /// pairs: those of the first round; 0 for 2000 in dimension 3 and below, else 50 times the generic number of
        /// pairs, at least 2000 and at most 100 000.
        pub starts: i64 = 0,
        /// All pairs: most starts in all; 0 for 32 times `starts`.
        pub max_starts: i64 = 0,
        /// Seed of random starts; refused with other starts unless it is 0.
        pub seed: u64 = 0,
        /// Sign rule. For odd order (lambda, x) and (-lambda, -x) are one pair. If the goal is one kind, the kind
        /// determines the representative: maxima are listed as maxima and minima as minima, whatever the sign of
        /// lambda.
        pub sign: Sign = Sign::Canonical,
        /// The program whose conventions apply.
        pub compatibility: Compatibility = Compatibility::None,
        /// For even order, subtracts a multiple of the identity: 0.9 of the smallest value over the starts. It is added
        /// to lambda afterwards. The pairs stay the same and fewer steps are needed. The hybrid in dimension 3 does not
        /// need it and iterates on the tensor itself, as `false` says.
        pub remove_isotropic: bool = true,
        /// Pairs closer than this angle (rad) are merged; 0 for one degree. All pairs: 0 for 1e-5 (F64) or 1e-3 (F32).
        pub merge_angle: f64 = 0.0,
        /// If above 0, pairs are merged only if their lambdas also differ by no more than this, relative to the larger.
        /// All pairs: relative to the norm; 0 for 1e-6 (F64) or 1e-3 (F32).
        pub merge_value: f64 = 0.0,
        /// An eigenvalue of the projected Hessian counts as 0 if its magnitude is at most this times the Frobenius
        /// norm; 0 for 1e-7 (F64) or 1e-3 (F32).
        pub degeneracy_tolerance: f64 = 0.0,
    }
}

/// Outputs; those that are `None` are not computed. K is the number of pairs in the outputs, V that of the starts, T that of
/// the tensors, n the dimension; "real" is the element type of the tensors. Rows beyond `count` are NaN; there `classes` are
/// [`NO_PAIR`] and `basins` 0.
#[derive(Default)]
pub struct Results<'a> {
    /// I32 `[T]`: pairs listed, at most K.
    pub count: Option<&'a mut Tensor>,
    /// Real [K, T]: lambda; maxima descending, minima ascending; for both goals maxima first.
    pub values: Option<&'a mut Tensor>,
    /// Real [n, K, T]: unit vectors.
    pub vectors: Option<&'a mut Tensor>,
    /// Real [K, T]: |A x^(m-1) - lambda x|.
    pub residuals: Option<&'a mut Tensor>,
    /// I32 [K, T]: [`PairClass`].
    pub classes: Option<&'a mut Tensor>,
    /// Real [n - 1, K, T]: eigenvalues of the projected Hessian, ascending.
    pub hessian: Option<&'a mut Tensor>,
    /// I32 [K, T]: starts that ended in the pair.
    pub basins: Option<&'a mut Tensor>,
    /// I32 `[T]`: [`TensorStatus`].
    pub status: Option<&'a mut Tensor>,
    /// Real [V, T]: last lambda of each start.
    pub start_values: Option<&'a mut Tensor>,
    /// Real [n, V, T]: last vector of each start.
    pub start_vectors: Option<&'a mut Tensor>,
    /// Real [V, T]: last residual of each start.
    pub start_residuals: Option<&'a mut Tensor>,
    /// I32 [V, T]: iterations of each start.
    pub start_iterations: Option<&'a mut Tensor>,
    /// Real [V, T]: shift of the last step of each start: of a power step, or of the Hessian for the hybrid in
    /// dimension 3.
    pub start_shifts: Option<&'a mut Tensor>,
    /// I32 [V, T]: [`StartStatus`].
    pub start_status: Option<&'a mut Tensor>,
    /// I32 [V, T]: steps that changed lambda in the wrong direction by more than rounding.
    pub start_violations: Option<&'a mut Tensor>,
    /// Real `[L]`, with one tensor and one start: lambda at the start and after each step, NaN beyond.
    pub trace: Option<&'a mut Tensor>,
    /// I32 `[T]`: distinct pairs found, listed or not. It exceeds `count` if K is too small for all of them.
    pub found: Option<&'a mut Tensor>,
}

impl Results<'_> {
    /// The name of the first output with numbers of each start that the caller asked for.
    pub(super) fn first_per_start(&self) -> Option<&'static str> {
        let outputs = [
            ("start_values", self.start_values.is_some()),
            ("start_vectors", self.start_vectors.is_some()),
            ("start_residuals", self.start_residuals.is_some()),
            ("start_iterations", self.start_iterations.is_some()),
            ("start_shifts", self.start_shifts.is_some()),
            ("start_status", self.start_status.is_some()),
            ("start_violations", self.start_violations.is_some()),
            ("trace", self.trace.is_some()),
        ];
        outputs.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }
}
