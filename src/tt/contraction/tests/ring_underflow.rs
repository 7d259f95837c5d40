//! Rings in which entries that contribute may underflow. The result must be right, or an error.

use std::sync::Arc;

use super::spans::{close, two};
use super::support::session;
use crate::context::Context;
use crate::error::Error;
use crate::operator::{Trains, correlation, expect_local, identity, rayleigh, sandwich};
use crate::scalar::DType;
use crate::tensor::Location;
use crate::tensor::train::TensorTrain;
use crate::trains::balance::ring_underflows;
use crate::trains::options::{Method, NormMethod};
use crate::trains::testing::{C, Disorder, bare, cpu, placed};
use crate::trains::{Options, Scaled};

/// A ring with one entry: the core, left bond fastest, the number of its copies in the ring, and the entry.
pub struct Case {
    pub dtype: DType,
    pub core: Vec<f64>,
    pub sites: usize,
    pub entry: Scaled,
}

impl Case {
    pub fn train(&self, c: &Arc<Context>, location: Location) -> TensorTrain {
        let ranks = vec![2; self.sites + 1];
        placed(c, bare(&ranks, vec![self.core.clone(); self.sites]).train(c, self.dtype), location)
    }

    /// The train of as many sites whose only entry is 1.
    pub fn one(&self, c: &Arc<Context>, location: Location) -> TensorTrain {
        placed(c, bare(&vec![1; self.sites + 1], vec![vec![1.0]; self.sites]).train(c, self.dtype), location)
    }
}

/// Cores in which an entry leads to zeros for one value of the boundary bond and contributes for the other, and cores
/// in which some entries lead only to the other value of the boundary bond.
pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    let powers = [
        (DType::F32, 40, 40, -40),
        (DType::F32, 50, 40, -40),
        (DType::F32, 50, 20, -40),
        (DType::F32, 100, 80, -80),
        (DType::F64, 400, 300, -300),
        (DType::F64, 500, 900, -400),
    ];
    for (dtype, p, q, r) in powers {
        // The ring's entry is 3 2^(p + q + r); it also has the term 2^(3 r).
        let entry = Scaled::new(C::new(3.0, 0.0), i64::from(p + q + r));
        all.push(Case { dtype, core: vec![0.0, two(q), two(p), two(r)], sites: 3, entry });
    }
    for (dtype, p, q, r) in [(DType::F64, 680, 880, -720), (DType::F32, 85, 110, -90)] {
        let entry = Scaled::new(C::new(1.0, 0.0), i64::from(r));
        all.push(Case { dtype, core: vec![0.0, two(q), two(p), two(r)], sites: 1, entry });
    }
    // All rows and columns have the same largest entry, and there are no zeros.
    for (dtype, e) in [(DType::F64, -680), (DType::F32, -80), (DType::CF64, -700), (DType::CF32, -75)] {
        let entry = Scaled::new(C::new(2.0, 0.0), i64::from(e));
        all.push(Case { dtype, core: vec![two(e), 1.0, 1.0, two(e)], sites: 1, entry });
        // The entry is twice 2^(3 e) + 3 2^e.
        let entry = Scaled::new(C::new(6.0, 0.0), i64::from(e));
        all.push(Case { dtype, core: vec![two(e), 1.0, 1.0, two(e)], sites: 3, entry });
    }
    all
}

/// Checks calls that wait for their results.
pub fn check(c: &Arc<Context>, location: Location) {
    for case in cases() {
        let (x, one, entry) = (case.train(c, location), case.one(c, location), case.entry);
        let real = if case.dtype.is_single() { DType::F32 } else { DType::F64 };
        let unit = identity(c, real, &vec![1; case.sites]).unwrap();
        let square = entry.times(entry);
        let name = |what: &str| format!("{what}, {:?}, {:?}, {} sites", case.dtype, case.core, case.sites);
        let plain = || session(c, Options::default());
        close(plain().inner_scaled(None, &one, &x, None).unwrap().0, entry, &name("inner with ones"));
        for method in [Method::Auto, Method::Full, Method::Reduced, Method::Blocked] {
            let options = Options { method, ..Options::default() };
            let found = session(c, options).inner_scaled(None, &x, &x, None).unwrap().0;
            close(found, square, &name("inner"));
        }
        for norm_method in [NormMethod::Auto, NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr] {
            let options = Options { norm_method, ..Options::default() };
            close(session(c, options).norm_scaled(None, &x, None).unwrap().0, entry, &name("norm"));
        }
        let mut gram = vec![Scaled::ZERO; 4];
        plain().gram(None, &[&x, &one], &[&x, &one], &mut gram, None).unwrap();
        close(gram[0], square, &name("gram"));
        close(gram[1], entry, &name("gram"));
        plain().inner_batch(None, &[&one, &x, &one], &[&x, &x, &one], &mut gram[..3], None).unwrap();
        close(gram[0], entry, &name("batch"));
        close(gram[1], square, &name("batch"));
        close(gram[2], Scaled::real(1.0), &name("batch"));
        let refused = |found: Result<(), Error>, what: &str| {
            assert!(matches!(found, Err(Error::Numerical(_))), "{}: {found:?}", name(what));
        };
        refused(plain().distance_scaled(None, &x, &one, None).map(|_| ()), "distance");
        let (op, options) = ([C::new(1.0, 0.0)], Options::default());
        for found in [expect_local(c, &options, &x, &op, &[0]), correlation(c, &options, &x, &op, &op)] {
            let found = found.unwrap_or_else(|e| panic!("{}: {e}", name("expectations"))).values;
            assert!(found.iter().all(|value| (value - op[0]).norm() < 1e-5), "{}: {found:?}", name("expectations"));
        }
        let trains = Trains::new(&one, Some(&unit), &x);
        close(sandwich(c, &options, &trains).unwrap().0, entry, &name("sandwich"));
        close(sandwich(c, &options, &Trains::new(&x, None, &x)).unwrap().0, square, &name("sandwich of none"));
        let quotient = rayleigh(c, &options, &x, &unit).unwrap().quotient;
        close(quotient, Scaled::real(1.0), &name("rayleigh"));
    }
}

/// Checks rings whose cores are passed through several times.
pub fn check_repeated(c: &Arc<Context>, location: Location) {
    for (dtype, e) in [(DType::F64, -680), (DType::F32, -80)] {
        let of = |core: [f64; 4]| placed(c, bare(&[2, 2], vec![core.to_vec()]).train(c, dtype), location);
        let x = of([two(e), 1.0, 1.0, two(e)]);
        for method in [Method::Auto, Method::Full, Method::Power] {
            let by = |repeat| session(c, Options { repeat, method, ..Options::default() });
            // The trace of the matrix's square is 2, that of its cube 6 2^e.
            close(by(2).inner_scaled(None, &x, &x, None).unwrap().0, Scaled::real(4.0), "even power");
            let found = by(3).inner_scaled(None, &x, &x, None).unwrap().0;
            close(found, Scaled::new(C::new(36.0, 0.0), 2 * i64::from(e)), "odd power");
            // The trace of the power 5001 is 2 * 5001 2^e.
            match by(5001).inner_scaled(None, &x, &x, None) {
                Ok((found, _)) => {
                    let trace = 2.0 * 5001.0;
                    close(found, Scaled::new(C::new(trace * trace, 0.0), 2 * i64::from(e)), "large power");
                }
                Err(e) => assert!(matches!(e, Error::Numerical(_)), "{e}"),
            }
        }
    }
    let x = placed(c, bare(&[2, 2], vec![vec![0.0, two(-400), two(900), 0.0]]).train(c, DType::F64), location);
    let y = placed(c, bare(&[2, 2], vec![vec![two(-100), 0.0, 0.0, 0.0]]).train(c, DType::F64), location);
    for method in [Method::Auto, Method::Full, Method::Power] {
        let mut by = session(c, Options { repeat: 2, method, ..Options::default() });
        let found = by.inner_scaled(None, &x, &y, None).unwrap().0;
        close(found, Scaled::new(C::new(2.0, 0.0), 300), "power of two rings");
    }
}

/// A ring with entries far below others, none of which contributes.
pub fn harmless(c: &Arc<Context>, dtype: DType, location: Location) -> TensorTrain {
    let e = if dtype.is_single() { -80 } else { -700 };
    placed(c, bare(&[2; 4], vec![vec![1.0, two(e), two(e), 1.0]; 3]).train(c, dtype), location)
}

/// Checks that the search on a device finds the same rings as the search on the host.
pub fn check_search(c: &Arc<Context>) {
    let mut d = Disorder::new(77);
    let mut found = 0;
    for round in 0..300 {
        let dtype = if round % 2 == 0 { DType::F32 } else { DType::F64 };
        let range = if dtype == DType::F32 { 60.0 } else { 700.0 };
        let largest = if round % 50 == 0 { 70 } else { 4 };
        let sites = d.pick(1, 4);
        let mut ranks: Vec<usize> = (0..=sites).map(|_| d.pick(2, largest)).collect();
        ranks[sites] = ranks[0];
        let has_zeros = round % 3 == 0;
        let core = |k: usize, d: &mut Disorder| -> Vec<f64> {
            let mut number = || if has_zeros && d.number() < -0.6 { 0.0 } else { two((d.number() * range) as i32) };
            (0..ranks[k] * ranks[k + 1]).map(|_| number()).collect()
        };
        let cores = (0..sites).map(|k| core(k, &mut d)).collect();
        let here = bare(&ranks, cores).train(c, dtype);
        let there = placed(c, bare_copy(&here, c), Location::Device);
        for turns in [1, 3] {
            let (wanted, got) = (ring_underflows(c, &here, turns).unwrap(), ring_underflows(c, &there, turns).unwrap());
            // The device's search also counts entries that are only multiplied by zeros.
            assert!(if has_zeros { got || !wanted } else { got == wanted }, "{round}, {turns}: {got}, not {wanted}");
            found += usize::from(wanted);
        }
    }
    assert!((100..500).contains(&found), "{found}");
    // More values of the boundary bond than thread blocks. Only the last value makes the difference.
    let n = 300;
    let core = |e: i32| {
        (0..n * n).map(move |at| {
            if at == n * n - 1 {
                two(e)
            } else if at % (n + 1) == 0 {
                0.0
            } else {
                1.0
            }
        })
    };
    for (e, wanted) in [(0, false), (-680, true)] {
        let here = bare(&[n, n], vec![core(e).collect()]).train(c, DType::F64);
        let there = placed(c, bare_copy(&here, c), Location::Device);
        for train in [&here, &there] {
            assert_eq!(ring_underflows(c, train, 1).unwrap(), wanted, "2^{e}");
        }
    }
}

/// A copy of the train in other memory.
fn bare_copy(x: &TensorTrain, c: &Arc<Context>) -> TensorTrain {
    let mut copy = TensorTrain::create(c, x.dtype(), Location::Host, x.shape().clone()).unwrap();
    crate::tensor::train::copy(c, None, x, &mut copy).unwrap();
    copy
}

#[test]
fn numbers_of_rings_hide_none_that_count() {
    check(&cpu(2), Location::Host);
}

#[test]
fn powers_of_rings_keep_numbers_that_others_hide() {
    check_repeated(&cpu(2), Location::Host);
}

#[test]
fn numbers_that_do_not_count_may_be_hidden() {
    let c = cpu(2);
    for dtype in [DType::F32, DType::F64] {
        let x = harmless(&c, dtype, Location::Host);
        close(
            session(&c, Options::default()).inner_scaled(None, &x, &x, None).unwrap().0,
            Scaled::real(4.0),
            "harmless",
        );
        assert!(!ring_underflows(&c, &x, 1).unwrap());
    }
}
