"""The thresholds of SS-HOPM that stand in Rust and again in CUDA: both backends must stop, shift and sign by the same numbers.

    python3 tools/checks/thresholds.py     checks the tree, and first itself: a changed number of each file must be found

Each threshold lists files, and the expression there with `#` for a number. Every place of the expression must have the
same numbers in all its files.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NUMBER = r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)"

LOAD, THREE, GENERAL, STEPS = (f"src/sshopm/cpu/{name}.rs" for name in ("load", "three", "general", "steps"))
CUDA_LOAD, CUDA_STEP, CUDA_GENERAL = (f"cuda/sshopm_{name}.cuh" for name in ("load", "step", "general"))
# The same choice of two numbers by the type.
RUST_TYPE, CUDA_TYPE = "if size_of::<T>() == 4 { # } else { # }", "sizeof(T) == 4 ? T(#) : T(#)"

THRESHOLDS: dict[str, list[tuple[str, str]]] = {
    "residual of a power step, as a part of the tolerance": [
        (LOAD, "plan.tolerance } else { # * plan.tolerance }"),
        (CUDA_LOAD, "METHOD == PURLIN_LAUNCH_NEWTON ? 1.0 : #) * p.tolerance"),
        (CUDA_GENERAL, "newton ? tolerance : T(#) * tolerance"),
    ],
    "residual of rounding, in eps times the norm": [
        (LOAD, "let rounding = # * T::EPSILON.to_f64();"),
        (CUDA_LOAD, "* p.tolerance), T(#) * Real<T>::epsilon);"),
        (CUDA_STEP, "rounding = T(#) * Real<T>::epsilon * norm"),
        (CUDA_GENERAL, "* tolerance, T(#) * Real<T>::epsilon) * v.norm"),
    ],
    "accuracy of the test of lambda, in eps": [
        ("src/sshopm/options.rs", "Self::Lambda => #,"),
        (CUDA_STEP, "T(2) : T(#)) * Real<T>::epsilon"),
    ],
    "accuracy of the test of the step, in eps": [
        ("src/sshopm/options.rs", "Self::Step => #,"),
        (CUDA_STEP, "p.test == PURLIN_LAUNCH_TEST_STEP ? T(#) : T(1)"),
    ],
    "largest constant shift, F32 and F64": [
        (LOAD, "const MOST_SHIFT: [f64; 2] = [#, #];"),
        (CUDA_STEP, f"fmin(shift, {CUDA_TYPE})"),
    ],
    "guaranteed shift, in units of its bound": [
        (LOAD, "(plan.shape.order - 1) as f64 * #) * norm"),
        (CUDA_LOAD, "T(M - 1) * norm * T(#)"),
        (CUDA_GENERAL, "T(p.order - 1) * v.norm * T(#)"),
    ],
    "part of the least value that is removed as isotropic": [
        (LOAD, "isotropic = T::from_f64(#) * least"),
        (CUDA_LOAD, "T(#) * warp_min_value(least)"),
    ],
    "decrease of lambda that is rounding, in eps": [
        (STEPS, "let slack = simd.splat(V::T::from_f64(# * V::T::EPSILON.to_f64()));"),
        (CUDA_STEP, "T(#) * Real<T>::epsilon * (T(1) + fabs(lambda))"),
        (CUDA_GENERAL, "T(#) * Real<T>::epsilon * (T(1) + fabs(s.lambda))"),
    ],
    "margin of the shift of a warm-up": [
        (THREE, "lambda.abs().mul_add(simd.splat(T::from_f64(#)), simd.splat(T::from_f64(#)))"),
        (GENERAL, "lambda.abs().mul_add(simd.splat(T::from_f64(#)), simd.splat(T::from_f64(#)))"),
        (CUDA_STEP, "fma(T(#), fabs(lambda), T(#))"),
        (CUDA_GENERAL, "fma(T(#), fabs(lambda), T(#))"),
    ],
    "least shift of a step uphill, F32 and F64": [
        ("src/sshopm/cpu/uphill.rs", f"let tiny = number({RUST_TYPE});"),
        (GENERAL, f"let tiny = number({RUST_TYPE});"),
        (CUDA_STEP, f"tiny = {CUDA_TYPE}"),
        (CUDA_GENERAL, f"tiny = {CUDA_TYPE}"),
    ],
    "singular Hessian of Newton's step, F32 and F64": [
        ("src/sshopm/cpu/linear.rs", f"let regular = simd.splat(T::from_f64({RUST_TYPE})).mul(largest)"),
        (THREE, f"let least = simd.splat(T::from_f64({RUST_TYPE}));"),
        (CUDA_STEP, f"fabs(t.determinant) > ({CUDA_TYPE}) * scale"),
        (CUDA_GENERAL, f"eliminate(n, s.h, s.d, ({CUDA_TYPE}) * size)"),
    ],
    "squared length of a last Newton step along a continuum, F32 and F64": [
        (THREE, f"let long = simd.splat(T::from_f64({RUST_TYPE}));"),
        (CUDA_STEP, f"long2 = {CUDA_TYPE};"),
        (CUDA_GENERAL, f"dot_n(n, s.d, s.d) > ({CUDA_TYPE})"),
    ],
    "margin of the least eigenvalue in closed form, F32": [
        (THREE, "let margin = if size_of::<T>() == 4 { # } else { 0.0 };"),
        (CUDA_STEP, "sizeof(T) == 4 ? e - T(#) * p : e"),
    ],
    "doubt about a maximum, in eps times the norm": [
        ("src/sshopm/cpu/top.rs", "let doubt = # * T::EPSILON.to_f64() * norm"),
        ("cuda/sshopm_reduce.cuh", "doubt = fma(T(#) * Real<T>::epsilon, norm"),
        ("cuda/sshopm_select.cuh", "doubt = fma(T(#) * Real<T>::epsilon, norm"),
    ],
    "value that counts as 0 for the sign, in eps times the norm": [
        ("src/sshopm/cpu/reduce.rs", "value.abs() > T::from_f64(# * T::EPSILON.to_f64()) * loaded.norm"),
        ("cuda/sshopm_reduce.cuh", "T(#) * Real<T>::epsilon * norm, mine.x"),
        ("cuda/sshopm_select.cuh", "s.zero = T(#) * Real<T>::epsilon * norm"),
    ],
    "components that count as the largest for the sign": [
        ("src/sshopm/cpu/reduce.rs", "largest * T::from_f64(1.0 - #)"),
        ("src/sshopm/cpu/write.rs", "largest * T::from_f64(1.0 - #)"),
        ("src/sshopm/all/set.rs", "largest * T::from_f64(1.0 - #)"),
        ("cuda/sshopm_reduce.cuh", "T(1 - #)"),
        ("cuda/sshopm_select.cuh", "largest * T(1 - #)"),
    ],
}


def numbers(expression: str, text: str) -> list[tuple[float, ...]]:
    """The numbers at each place of the expression in the text."""
    found = re.finditer(NUMBER.join(re.escape(part) for part in expression.split("#")), text)
    return [tuple(map(float, place.groups())) for place in found]


def check(texts: dict[str, str]) -> list[str]:
    wrong = []
    for threshold, places in THRESHOLDS.items():
        found = [(file, values) for file, expression in places for values in numbers(expression, texts[file]) or [()]]
        if len({values for _, values in found}) > 1 or () in (values for _, values in found):
            listing = ", ".join(f"{file}: {' and '.join(map(str, values)) or 'is not found'}" for file, values in found)
            wrong.append(f"{threshold}: {listing}")
    return wrong


def self_test(texts: dict[str, str]) -> list[str]:
    """Changes each number of each file, and each expression."""
    missed = []
    for threshold, places in THRESHOLDS.items():
        for file, expression in places:
            for k in range(expression.count("#")):
                parts = expression.split("#")
                pattern = NUMBER.join(re.escape(part) for part in parts)
                place = re.search(pattern, texts[file])
                if place is None:
                    continue
                changed = texts[file][: place.start(k + 1)] + "0.125" + texts[file][place.end(k + 1) :]
                if not any(line.startswith(threshold) for line in check(texts | {file: changed})):
                    missed.append(f"self-test: a change of number {k} of {threshold} in {file} is not found")
            gone = re.sub(re.escape(expression.split("#")[0]), "", texts[file])
            if not any(line.startswith(threshold) for line in check(texts | {file: gone})):
                missed.append(f"self-test: {file} without {threshold} is not found")
    return missed


if __name__ == "__main__":
    texts = {file: (ROOT / file).read_text() for places in THRESHOLDS.values() for file, _ in places}
    problems = check(texts) or self_test(texts)
    print(*problems, sep="\n", end="\n" if problems else "")
    sys.exit(1 if problems else 0)
