use super::super::Isa;
use super::*;
use crate::real::Real;

/// Every operation on the same numbers, lane by lane against the scalar type.
struct Check;

impl<T: Real> Kernel<T> for Check {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> usize {
        check(simd);
        check(simd.doubled());
        check(Twice(simd));
        S::V::LEN
    }
}

fn check<T: Real, S: Simd<T>>(simd: S) {
    let n = S::V::LEN;
    let number = |k: usize| T::from_f64([1.5, -2.25, 0.0, 7.0, -0.5, 3.0, 1e-3, -9.0][k % 8]);
    let (mut a, mut b) = (vec![T::ZERO; n], vec![T::ZERO; n]);
    for k in 0..n {
        a[k] = number(k);
        b[k] = number(k * 3 + 1);
    }
    let (x, y, two) = (simd.load(&a), simd.load(&b), simd.splat(T::from_f64(2.0)));
    let each = |name: &str, v: S::V, f: &dyn Fn(T, T) -> T| {
        let mut out = vec![T::ZERO; n];
        v.store(&mut out);
        for k in 0..n {
            assert_eq!(out[k], f(a[k], b[k]), "{name}, lane {k} of {n}");
        }
    };
    let t = T::from_f64(2.0);
    each("add", x.add(y), &|a, b| a + b);
    each("sub", x.sub(y), &|a, b| a - b);
    each("mul", x.mul(y), &|a, b| a * b);
    each("div", y.div(two), &|_, b| b / t);
    // Exact in these numbers, so that one rounding or two make no difference.
    each("mul_add", x.mul_add(two, two), &|a, _| a * t + t);
    each("neg_mul_add", x.neg_mul_add(two, two), &|a, _| t - a * t);
    each("sqrt", x.abs().sqrt(), &|a, _| a.abs().sqrt());
    each("min", x.min(y), &|a, b| if a < b { a } else { b });
    each("max", x.max(y), &|a, b| if a > b { a } else { b });
    each("lt", S::V::select(x.lt(y), x, two), &|a, b| if a < b { a } else { t });
    each("le", S::V::select(y.le(y), x, two), &|a, _| a);
    each("and", S::V::select(x.lt(y).and(y.lt(two)), x, y), &|a, b| if a < b && b < t { a } else { b });
    each("or", S::V::select(x.lt(y).or(y.lt(two)), x, y), &|a, b| if a < b || b < t { a } else { b });
    each("and_not", S::V::select(x.lt(two).and_not(x.lt(y)), x, y), &|a, b| if a < t && a >= b { a } else { b });
    let (magnitude, mut roots) = (x.abs(), vec![T::ZERO; n]);
    simd.rsqrt(magnitude).store(&mut roots);
    for (root, a) in roots.iter().zip(&a).filter(|(_, a)| **a != T::ZERO) {
        let off = (*root * a.abs().sqrt() - T::ONE).abs();
        assert!(off <= T::from_f64(3.0) * T::EPSILON, "rsqrt of {a:?} is off by {off:?}");
    }
    assert_eq!(x.largest(), a.iter().copied().fold(a[0], |most, x| if x > most { x } else { most }), "largest of {n}");
    for count in 0..=n {
        let mut out = vec![T::ONE; n];
        simd.load_part(&a[..count]).store(&mut out);
        assert_eq!(out[..count], a[..count], "the first {count} of {n}");
        assert!(out[count..].iter().all(|z| *z == T::ZERO), "beyond the first {count} of {n}");
    }
    let sum: f64 = a.iter().map(|a| a.to_f64()).sum();
    assert!((x.total().to_f64() - sum).abs() <= 1e-5 * sum.abs().max(1.0), "total of {n}");
    let far: Vec<T> = (0..3 * n).map(|k| T::from_f64(k as f64)).collect();
    for base in [0, 1] {
        let at: Vec<i32> = (0..2 * n).map(|k| base + (3 * n - 1 - k) as i32).collect();
        for count in 0..=2 * n {
            let mut out = vec![T::ONE; n];
            simd.gather(&far, &at[..count], base).store(&mut out);
            let expected = |k: usize| if k < count { T::from_f64((3 * n - 1 - k) as f64) } else { T::ZERO };
            assert!((0..n).all(|k| out[k] == expected(k)), "{count} gathered of {n}");
            // With as many indices as are wanted, and with all.
            for given in [count, n] {
                out.fill(T::ONE);
                simd.pick(&far, &at[..given], count, base).store(&mut out);
                assert!((0..n).all(|k| out[k] == expected(k)), "{count} picked of {given}, of {n}");
            }
        }
        for wrong in [base - 1, base + 3 * n as i32, i32::MIN, i32::MAX] {
            let at = [base, wrong];
            let gather = || simd.gather(&far, &at[2 - n.min(2)..], base);
            let gathered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(gather));
            assert!(gathered.is_err(), "{wrong} is outside");
            let mut at = vec![base; n.max(2)];
            at[n - 1] = wrong;
            let pick = || simd.pick(&far, &at, n, base);
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(pick)).is_err(), "{wrong} is outside");
            // Other lanes may hold anything.
            let mut out = vec![T::ONE; n];
            simd.pick(&far, &at, n - 1, base).store(&mut out);
            assert!((0..n - 1).all(|k| out[k] == far[0]) && out[n - 1] == T::ZERO);
        }
    }
    let none = [T::ZERO; 0];
    simd.gather(&none, &[], 0).store(&mut vec![T::ONE; n]);
    let mut swapped = vec![T::ZERO; n];
    simd.swap_pairs(x).store(&mut swapped);
    assert!((0..n - n % 2).all(|k| swapped[k] == a[k ^ 1]), "pairs of {n}");
    let bits = 0x9e37_79b9_7f4a_7c15;
    assert_eq!(simd.mask(bits).bits(), bits & u64::MAX >> (64 - n), "mask of {n}");
    each("floor", simd.floor(x), &|a, _| T::from_f64(a.to_f64().floor()));
    let mut table = vec![T::ZERO; 2 * n];
    table.iter_mut().enumerate().for_each(|(k, v)| *v = T::from_f64(100.0 + k as f64));
    let index: Vec<T> = (0..n).map(|k| T::from_f64(((k * 7 + 3) % (2 * n)) as f64)).collect();
    let mut out = vec![T::ZERO; n];
    // Along a straight line interpolation is exact.
    let position: Vec<T> = index.iter().map(|i| T::from_f64((i.to_f64() - 0.75).max(0.25))).collect();
    simd.interpolate(simd.load(&table), simd.load(&table[n..]), simd.load(&position)).store(&mut out);
    for k in 0..n {
        assert_eq!(out[k].to_f64(), 100.0 + position[k].to_f64(), "interpolation, lane {k} of {n}");
    }
    assert!(!x.lt(x).any() && x.le(x).any());
    assert_eq!(x.le(x).bits().count_ones() as usize, n);
    let nan = simd.splat(T::ZERO).div(simd.splat(T::ZERO));
    assert!(!nan.le(nan).any() && !nan.lt(x).any());
}

#[test]
fn every_instruction_set_computes_the_same() {
    let mut lanes = Vec::new();
    for isa in [Isa::Portable, Isa::Avx2, Isa::Avx512].into_iter().filter(|i| *i <= Isa::detect()) {
        lanes.push(dispatch::<f32, _>(isa, Check));
        lanes.push(dispatch::<f64, _>(isa, Check));
    }
    assert_eq!(lanes, [8, 4, 8, 4, 16, 8][..lanes.len()]);
    check::<f64, _>(Portable::<1>);
}
