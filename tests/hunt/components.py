"""Attacks on PCA of columns in any unit, with and without `scale` and `whiten`. Oracle: means, deviations and distances as
fractions, which neither round nor overflow; products and roots in extended precision, whose range is 1e4932."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import purlin

from attack import ALL, REAL, Bench, Refused, epsilon, labelled, orthonormal, pick, require
from spectra import csr

EPS = float(np.finfo(np.float64).eps)
# BRSVD loses small values by design (docs/rsvd.md).
METHODS = ("auto", "auto", "auto", "range", "fused", "krylov", "gram", "direct", "row_fused", "basic", "fifo", "merge", "one_pass")


def number(q: Fraction) -> np.longdouble:
    """A fraction in extended precision: 70 bits of it, in two parts that are exact."""
    shift = 70 - q.numerator.bit_length() + q.denominator.bit_length()
    bits = int(q * (1 << shift)) if shift >= 0 else int(q / (1 << -shift))
    high, low = bits >> 35, bits & (1 << 35) - 1
    return np.ldexp(np.ldexp(np.longdouble(high), 35) + np.longdouble(low), -shift)


fractions = np.vectorize(Fraction, otypes=[object])
numbers = np.vectorize(number, otypes=[np.longdouble])


def parts(x: np.ndarray) -> list[np.ndarray]:
    """Real and imaginary parts as fractions."""
    return [fractions(part.astype(float)) for part in ((x.real, x.imag) if np.iscomplexobj(x) else (x,))]


def joined(real_and_imaginary: list[np.ndarray]) -> np.ndarray:
    found = [numbers(part) for part in real_and_imaginary]
    return found[0] if len(found) == 1 else found[0] + np.clongdouble(1j) * found[1]


class Truth(NamedTuple):
    """Exact means, deviations and divisors of the samples' columns."""

    means: list[np.ndarray]
    mean: np.ndarray
    deviation: np.ndarray
    divisor: np.ndarray
    constant: np.ndarray

    def distances(self, x: np.ndarray) -> np.ndarray:
        """(x - mean) / divisor, each rounded once or twice. Columns that are constant contribute nothing."""
        return np.where(self.constant, 0, joined([part - mean for part, mean in zip(parts(x), self.means)]) / self.divisor)


def truth_of(x: np.ndarray, center: bool, scale: bool) -> Truth:
    exact = parts(x)
    means = [part.sum(axis=0) / len(x) if center else part[0] * 0 for part in exact]
    spread = sum(((part - mean) ** 2).sum(axis=0) for part, mean in zip(exact, means))
    deviation = np.sqrt(numbers(spread / (len(x) - 1)))
    mean = joined(means)
    constant = (deviation <= 8 * EPS * np.abs(mean)) & scale
    divisor = np.where(constant | (not scale), np.longdouble(1), deviation)
    return Truth(means, mean, deviation, divisor, constant)


def column(rng: np.random.Generator, m: int, unit: float, dtype: Any) -> tuple[str, np.ndarray]:
    """Numbers of about 1 with a mean that may be far larger, in `unit`; rounded to the type."""
    kind = pick(rng, "plain", "plain", "far", "far", "constant", "nearly constant", "zero", "two", "few", "one")
    noise = rng.standard_normal(m)
    x = {
        "plain": noise, "far": noise + 10.0 ** float(pick(rng, 1, 3, 6, 9, 12)), "constant": np.full(m, noise[0]), "zero": np.zeros(m),
        "nearly constant": noise[0] * (1 + EPS * rng.integers(0, 3, m)), "two": rng.choice([-1.0, 1.0], m),
        "few": noise * (rng.random(m) < 0.3), "one": np.where(np.arange(m) == rng.integers(m), noise, 0.0),
    }[kind]
    # Means stay well below the largest number.
    x = x * min(unit, float(np.finfo(dtype).max) / 8 / max(np.abs(x).max(), 1.0))
    if np.dtype(dtype).kind == "c":
        x = x * np.exp(2j * np.pi * (rng.random(m) if "constant" not in kind else rng.random()))
    return kind, x.astype(dtype)


def units(rng: np.random.Generator, n: int, double: bool) -> tuple[str, np.ndarray]:
    """Powers of ten, around one that may be near either end of the range, near to each other or not."""
    centre, apart = (pick(rng, 0, 0, 100, -100, 150, -150, 200, -200, 300, -290), pick(rng, 0, 3, 30, 140, 280)) if double else (
        pick(rng, 0, 0, 15, -15, 30, -30, 37, -34), pick(rng, 0, 3, 10, 30, 75))
    most, least = (306.0, -290.0) if double else (37.0, -34.0)
    return f"1e{centre} to 1e{apart} apart", 10.0 ** np.clip(centre + apart * (rng.random(n) - 0.5), least, most)


def samples(rng: np.random.Generator) -> tuple[str, np.ndarray, bool]:
    m, n, dtype = int(pick(rng, 2, 3, 7, 20, 40)), int(rng.integers(1, 12)), pick(rng, *REAL, *ALL)
    name, of = units(rng, n, epsilon(dtype) < 1e-10)
    scale = rng.random() < 0.65
    columns = [column(rng, m, unit, dtype) for unit in of]
    for j, (_, x) in enumerate(columns):
        found = truth_of(x[:, None], True, True)
        # Close to 8 eps of the mean, rounding decides on which side a deviation is.
        if scale and 4 * EPS * abs(found.mean[0]) < found.deviation[0] < 16 * EPS * abs(found.mean[0]):
            columns[j] = ("constant", np.full(m, x[0]))
        elif found.constant[0] and x.any() and "constant" not in columns[j][0]:
            columns[j] = ("constant by chance", x)
    kinds = ", ".join(kind for kind, _ in columns)
    return f"{m}x{n} {np.dtype(dtype).name} {name} ({kinds})", np.column_stack([x for _, x in columns]), scale


class Case:
    """A fit, the exact properties of its data, and the errors allowed for its results."""

    def __init__(self, label: str, x: np.ndarray, k: int, flags: dict[str, bool], method: str, form: str, backend: str) -> None:
        self.label, self.x, self.k, self.method = label, x, k, method
        self.scale, self.whiten = flags["scale"], flags["whiten"]
        self.truth = truth_of(x, flags["center"], self.scale)
        self.dtype, self.eps = x.dtype, epsilon(x.dtype)
        self.type = np.finfo(x.dtype)
        self.z = self.truth.distances(x)
        # Allowed error of a mean, in units of the divisor: some roundings of it, and 4096 of the deviation (docs/rsvd.md).
        # Products of sparse matrices on a GPU are corrected for means, and also lose the type's roundings.
        is_rounded = form == "csr" and backend == "cuda"
        mean, deviation, self.rounding = np.abs(self.truth.mean), self.truth.deviation, self.eps if is_rounded else EPS
        self.blur = np.where(self.truth.constant, 0, (16 * self.rounding * mean + 4096 * EPS * deviation) / self.truth.divisor)
        # LAPACK's values, in a unit where nothing of them overflows.
        largest = np.abs(self.z).max(initial=0)
        self.unit = np.ldexp(np.longdouble(1), int(np.frexp(largest)[1])) if largest > 0 else np.longdouble(1)
        plain = (self.z / self.unit).astype(np.complex128)
        self.values = np.linalg.svd(plain, compute_uv=False) * self.unit
        # Centred columns of a sparse matrix that differ from their mean by rounding errors alone may count as zeros.
        may_vanish = np.abs(self.z).max(axis=0) <= 16 * EPS * mean
        is_found = form == "csr" and flags["center"] and not self.scale and may_vanish.any()
        self.other_values = np.linalg.svd(np.where(may_vanish, 0, plain), compute_uv=False) * self.unit if is_found else self.values
        # Allowed error of singular values: those of means, divisors and rounding, and the loss of a Gram matrix or a second
        # sketch (docs/rsvd.md: 1e-12 of the largest, in single precision 5e-6, of GRAM 1e-7 and 3e-4).
        loose = 1e-6 if method in ("gram", "one_pass") else 0.0
        self.slack = 2e-5 + 1000 * loose if self.eps > 1e-10 else 1e-11 + loose
        self.slack = self.slack * self.values[0] + np.sqrt(x.size) * (self.blur.max(initial=0) + (self.relative() * np.abs(self.z)).max(initial=0))

    def relative(self) -> np.ndarray:
        """Allowed relative error of the divisors: the mean's error relative to the deviation, and roundings."""
        return self.blur + 100 * EPS if self.scale else np.zeros(len(self.blur))

    def may_refuse(self) -> bool:
        """Whether the documentation allows NUMERICAL for a fit."""
        tiny, most = 4 * float(self.type.tiny), float(self.type.max) / 4
        deviation = self.truth.deviation[~self.truth.constant]
        if self.scale:
            beside = deviation.min(initial=np.inf) < 1e-145 * np.abs(self.x).max()
            return bool(beside or deviation.min(initial=np.inf) < tiny or deviation.max(initial=0) > most)
        return any(self.may_refuse_values(values) for values in (self.values, self.other_values))

    def may_refuse_values(self, values: np.ndarray) -> bool:
        """The same for data with these singular values, which are not scaled."""
        tiny, most = 4 * float(self.type.tiny), float(self.type.max) / 4
        first, degrees = values[0], len(self.x) - 1
        # Values and variances that matter relative to the largest and are subnormal (docs/rsvd.md).
        least = values[: self.k][values[: self.k] > 32 * self.eps * first].min(initial=np.inf)
        if min(least, least**2 / degrees) < tiny:
            return True
        variance, total = first**2 / degrees, (values**2).sum() / degrees
        range_ = np.finfo(np.float64)
        beyond = not 4 * range_.tiny < total < range_.max / 4 or not tiny < variance < most or not tiny < first < most
        return bool(beyond and total > 0)


def check_fit(case: Case, model: Any) -> np.ndarray:
    """Checks means, divisors, values, variances and components. Returns the divisors of scores; 0 for values of rounding size."""
    truth, label, eps = case.truth, case.label, case.eps
    tiny = float(case.type.smallest_subnormal)
    error = np.abs(model.mean_ - truth.mean)
    limit = (8 * EPS + 2 * eps) * np.abs(truth.mean) + 4096 * EPS * truth.deviation + tiny
    require((error <= limit).all(), f"{label}: means {model.mean_}, exact {truth.mean}")
    error = np.abs(model.scale_ - truth.divisor)
    limit = (2 * eps + case.relative()) * truth.divisor + tiny
    require((error <= limit).all(), f"{label}: divisors {model.scale_}, exact {truth.divisor}")
    values = model.singular_values_.astype(np.longdouble)
    require(np.isfinite(values).all(), f"{label}: values {values}")
    error = np.abs(values - case.values[: case.k]).max()
    require(error <= case.slack + tiny, f"{label}: values {values}, exact {case.values[: case.k]}, limit {case.slack:.2e}")
    total = (case.values**2).sum() / (len(case.x) - 1)
    limit = 2 * case.slack * np.sqrt(np.longdouble(len(case.values))) * case.values[0] / (len(case.x) - 1)
    require(abs(model.total_variance_ - total) <= limit + 4 * np.finfo(float).tiny, f"{label}: variance {model.total_variance_}, exact {total}")
    orthonormal(model.components_.conj().T, 1e4 * eps, f"{label}: components")
    if not case.whiten:
        return np.ones(case.k)
    # The rule of docs/rsvd.md, on either side within a hundredth. Constant features of scaled data do not count.
    means = np.abs(np.where(truth.constant, 0, truth.mean / truth.divisor))
    along = 64 * case.rounding * (np.abs(model.components_) @ means) * np.sqrt(np.longdouble(len(case.x) - 1))
    limit = np.maximum(64 * eps * values[0], along)
    stretch = np.where(values > 0.99 * limit, values / np.sqrt(np.longdouble(len(case.x) - 1)), 0)
    return np.where((values > 0.99 * limit) & (values <= 1.01 * limit), np.nan, stretch)


def scores_of(model: Any, stretch: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of distances, the sums of the moduli of their terms before the division, and the divisors."""
    w = model.components_.astype(np.clongdouble if np.iscomplexobj(model.components_) else np.longdouble)
    divided = np.where(stretch > 0, stretch, 1)
    return z @ w.conj().T / divided, np.abs(z) @ np.abs(w).T, divided


def samples_of(case: Case, model: Any, stretch: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Samples of scores, and the sums of the moduli of their terms. Constant features have their mean."""
    w = model.components_.astype(np.clongdouble if np.iscomplexobj(model.components_) else np.longdouble)
    t = scores.astype(w.dtype) * np.where(np.isnan(stretch), 0, stretch)
    divisor = np.where(case.truth.constant, 0, case.truth.divisor)
    return t @ w * divisor + case.truth.mean, np.abs(t) @ np.abs(w) * divisor


def check_scores(case: Case, model: Any, stretch: np.ndarray, z: np.ndarray, found: np.ndarray, of_fit: bool, label: str) -> None:
    """Distances times components."""
    exact, size, divided = scores_of(model, stretch, z)
    weights = np.abs(model.components_.astype(exact.dtype)).T
    missed = case.eps * (8 + 2 * z.shape[1]) * size + (np.abs(z) * case.relative() + case.blur) @ weights
    if case.scale:
        # Where components vanish, as of columns whose deviation is a rounding error, scores round as a row's others do.
        missed = missed + 100 * case.eps * np.abs(z).max(axis=1, keepdims=True)
    if of_fit:
        # Methods that give U diag(s) have rounding errors of the largest value, and the errors of means in all entries.
        missed = missed + 1e3 * case.eps * case.values[0] + np.sqrt(case.x.size) * case.blur.max(initial=0)
        missed = missed + (case.slack if case.method in ("gram", "one_pass") else 0)
    # Weights, which are components over both divisors, may round to numbers without all of their digits.
    weighed = (np.abs(z) * case.truth.divisor).sum(axis=1, keepdims=True)
    limit = missed / divided + case.type.smallest_subnormal * (1 + z.shape[1] + weighed)
    require(np.isfinite(found).all(), f"{label}: not finite: {found}")
    right = np.abs(found - exact) <= limit
    # Along a direction without variance whitened scores are 0; rounding may decide whether a direction has variance.
    right = np.where(stretch == 0, found == 0, right | (np.isnan(stretch) & (np.isfinite(found) | (found == 0))))
    wrong = np.argwhere(~right)
    if len(wrong):
        i, j = wrong[0]
        require(False, f"{label}: score [{i}, {j}] is {found[i, j]}, exact {exact[i, j]} to {limit[i, j]:.2e}, {len(wrong)} wrong")


def check_samples(case: Case, model: Any, stretch: np.ndarray, scores: np.ndarray, found: np.ndarray, label: str) -> None:
    """Samples from scores."""
    exact, size = samples_of(case, model, stretch, scores)
    w, mean = np.abs(model.components_.astype(exact.dtype)), case.truth.mean
    divisor = np.where(case.truth.constant, 0, case.truth.divisor)
    unclear = np.abs(scores) * np.where(np.isnan(stretch), model.singular_values_, 0) @ w
    limit = case.eps * (8 + 2 * len(w)) * size + 2 * (case.eps + 8 * EPS) * np.abs(mean)
    limit = limit + unclear * divisor + case.relative() * size + 4096 * EPS * case.truth.deviation
    # Components, and scores times them, may be numbers without all of their digits.
    least = case.type.smallest_subnormal * (np.where(case.scale, divisor, 1) + np.abs(scores).sum(axis=1, keepdims=True) * divisor)
    limit = limit + 4 * len(w) * least * np.maximum(np.nan_to_num(stretch).max(), 1) + 2 * case.type.smallest_subnormal
    require(np.isfinite(found).all(), f"{label}: not finite: {found}")
    wrong = np.argwhere(~(np.abs(found - exact) <= limit))
    if len(wrong):
        i, f = wrong[0]
        require(False, f"{label}: entry [{i}, {f}] is {found[i, f]}, exact {exact[i, f]} to {limit[i, f]:.2e}, {len(wrong)} wrong")


def new_samples(rng: np.random.Generator, case: Case, wider: bool) -> tuple[str, np.ndarray]:
    """Rows near the fit's, far from them, near the end of the range, and of zeros; constant columns keep their value."""
    rows, n = int(rng.integers(1, 6)), case.x.shape[1]
    if wider and case.dtype == np.float32 and rng.random() < 0.2:
        # In double precision, of numbers that single precision does not hold.
        return "beyond", rng.standard_normal((rows, n)) * 10.0 ** float(pick(rng, 39, 60, 300))
    kind = pick(rng, "near", "near", "far", "end", "zero")
    most = float(case.type.max) * 0.9
    noise = rng.standard_normal((rows, n))
    with np.errstate(over="ignore", invalid="ignore"):
        made = {
            "near": np.abs(case.truth.mean) + case.truth.deviation * noise,
            "far": np.abs(case.truth.mean) + case.truth.deviation * noise * 10.0 ** float(pick(rng, 3, 6, 9)),
            "end": most * np.sign(noise), "zero": 0 * noise,
        }[kind]
    made = np.clip(made, -most, most).astype(case.dtype)
    return kind, np.where(case.truth.constant, case.x[0], made)


def columns_of_any_unit(rng: np.random.Generator, bench: Bench) -> None:
    """Fits, scores and samples of columns in one unit or in many, near the ends of the range, constant, far from the origin."""
    name, x, scale = samples(rng)
    m, n = x.shape
    k = int(rng.integers(1, min(m, n) + 1))
    flags = {"scale": scale, "whiten": rng.random() < 0.5, "center": scale or rng.random() < 0.9}
    form, method = pick(rng, "array", "array", "fortran", "csr", "csr", "function"), pick(rng, *METHODS)
    if form == "csr" and method in ("gram", "merge"):
        method = "auto"
    options: dict[str, Any] = {"method": method, "seed": int(rng.integers(1 << 30)), **flags}
    if form != "csr" and rng.random() < 0.5:
        options["block_rows"] = int(rng.integers(1, m + 1))
    label = f"PCA {name} {form} k={k} {options}"
    case = Case(label, x, k, flags, method, form, bench.backend)

    def given(data: np.ndarray) -> Any:
        if form == "csr":
            return csr(data, bench)
        if form == "function":
            return purlin.blocks.Source.from_function(lambda where: data[where], data.shape, data.dtype, context=bench.context)
        return np.asfortranarray(data) if form == "fortran" else data

    with purlin.pca.PCA(k, context=bench.context, **options) as model:
        with_scores = rng.random() < 0.7
        refusals = (purlin.Numerical,) if case.may_refuse() else ()
        # The method may not exist for such data.
        if method not in ("auto", "direct"):
            refusals = (*refusals, purlin.InvalidArgument, purlin.NotSupported)
        with labelled(label):
            scores = bench.call(model.fit_transform if with_scores else model.fit, given(x), allowed=refusals)
        stretch = check_fit(case, model)
        if with_scores:
            check_scores(case, model, stretch, case.z, np.asarray(scores), True, f"{label}: fit_transform")
        check_products(rng, bench, case, model, stretch, given)
    bench.outcomes["scaled" if scale else "not scaled"] += 1


def check_products(rng: np.random.Generator, bench: Bench, case: Case, model: Any, stretch: np.ndarray, given: Any) -> None:
    """Transforms and inverses by the model, and by a copy of it."""
    copy = pickle.loads(pickle.dumps(model))
    kind, fresh = new_samples(rng, case, given(case.x) is case.x)
    near = rng.standard_normal((3, case.k)).astype(case.dtype)
    # Scores that no transform made, each in a unit of its own.
    places = np.log10([float(case.type.tiny), float(case.type.max) / 100])
    with np.errstate(all="ignore"):
        free = (rng.standard_normal((3, case.k)) * 10.0 ** rng.uniform(*places, (3, 1))).astype(case.dtype)
    for who, by in (("model", model), ("copy", copy)):
        with np.errstate(all="ignore"):
            for what, data, z in (("fit's samples", case.x, case.z), (f"{kind} samples", fresh, case.truth.distances(fresh))):
                label = f"{case.label}: {who}, transform of {what}"
                try:
                    refusals = (purlin.Numerical, purlin.InvalidArgument) if kind == "beyond" else (purlin.Numerical,)
                    found = bench.call(by.transform, data if who == "copy" else given(data), allowed=refusals)
                except Refused as problem:
                    # A refusal is right if scores, with their allowed errors, are beyond the range of the model's type.
                    exact, size, divided = scores_of(model, stretch, z)
                    missed = (1e-4 if case.eps > 1e-10 else 1e-9) * size / divided
                    beyond = np.abs(data).max() > float(case.type.max)
                    # Rounding may decide whether a direction has variance. If it has, its scores are over its deviation.
                    least = np.where(np.isnan(stretch), model.singular_values_ / np.sqrt(case.x.shape[0] - 1), divided)
                    most = (np.maximum(np.abs(exact.real), np.abs(exact.imag)) + missed) * divided / least
                    held = (most < float(case.type.max)).all()
                    require(beyond or not held, f"{label}: refused: {problem}")
                    continue
                if kind == "beyond" and data is fresh:
                    require(not np.isnan(np.asarray(found)).any(), f"{label}: NaN in {found}")
                    continue
                check_scores(case, model, stretch, z, np.asarray(found), False, label)
            label = f"{case.label}: {who}, inverse_transform"
            for given_scores in (near, free):
                exact, size = samples_of(case, model, stretch, given_scores)
                try:
                    back = bench.call(by.inverse_transform, given_scores, allowed=(purlin.Numerical,))
                except Refused as problem:
                    most = np.maximum(np.abs(exact.real), np.abs(exact.imag))
                    # Rounding may decide whether a direction has variance.
                    most = most + (1e-4 if case.eps > 1e-10 else 1e-9) * size + np.where(np.isnan(stretch).any(), np.inf, 0)
                    require((most >= float(case.type.max)).any(), f"{label}: refused: {problem}")
                    continue
                check_samples(case, model, stretch, given_scores, np.asarray(back), label)


ATTACKS = {"columns_of_any_unit": columns_of_any_unit}
