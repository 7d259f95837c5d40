#!/usr/bin/env python3
"""Inner products of tensor trains on GPUs: open ones against a loop of torch's matrix products, rings against torch.bmm over
the boundary pairs and against the rate of torch's own product of large matrices, many small ones in a call against calls
one by one and against torch.bmm over the products, f32 in TF32, in three products of it, and by digits of 8 bits, several GPUs against one.

Arguments choose among open, ring, norm, calls, batch, tf32 and several. Cores lie on the device; times are those of whole calls, the
result on the host. Cores are scaled so that no environment overflows, which the loops need.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import purlin
from purlin.tt import Contraction, Train, Trains
from report import Table, median_seconds


def cores(torch: Any, d: int, n: int, rank: int, cyclic: bool, dtype: Any, seed: int) -> list[Any]:
    """Random cores (r, n, s), first index fastest."""
    generator = torch.Generator(device="cuda").manual_seed(seed)
    ranks = [rank] * (d + 1)
    if not cyclic:
        ranks[0] = ranks[d] = 1
    made = []
    for k in range(d):
        core = torch.randn(ranks[k + 1], n, ranks[k], dtype=dtype, device="cuda", generator=generator)
        made.append((core / (n**0.5 * ranks[k] ** 0.5)).permute(2, 1, 0))
    return made


def packed(x: list[Any]) -> list[Any]:
    """The cores in torch's own order, which its products want."""
    return [core.contiguous() for core in x]


def loop(torch: Any, x: list[Any], y: list[Any]) -> float:
    """Two products a site, as a user of torch writes it."""
    e = torch.ones(1, 1, dtype=x[0].dtype, device="cuda")
    for a, b in zip(x, y, strict=True):
        r, n, r2 = a.shape
        s2 = b.shape[2]
        t = torch.matmul(e.mT, a.reshape(r, n * r2)).reshape(-1, r2)
        e = torch.matmul(t.mT, b.reshape(-1, s2))
    return float(e.real.item() if e.is_complex() else e.item())


def pairs_by_bmm(torch: Any, x: list[Any], y: list[Any]) -> float:
    """All boundary pairs side by side, a batch of products each."""
    r, n, r2 = x[0].shape
    s, _, s2 = y[0].shape
    first_x = x[0].permute(0, 2, 1).reshape(r, 1, r2, n).expand(r, s, r2, n).reshape(r * s, r2, n)
    first_y = y[0].permute(0, 2, 1).reshape(1, s, s2, n).expand(r, s, s2, n).reshape(r * s, s2, n)
    e = torch.bmm(first_x, first_y.mT)
    for a, b in zip(x[1:-1], y[1:-1], strict=True):
        out = None
        for i in range(n):
            t = torch.bmm(a[:, i, :].mT.expand(r * s, -1, -1), e)
            term = torch.bmm(t, b[:, i, :].expand(r * s, -1, -1))
            out = term if out is None else out + term
        e = out
    last_x = x[-1].permute(2, 0, 1).reshape(r, 1, -1, n).expand(r, s, -1, n).reshape(r * s, -1, n)
    last_y = y[-1].permute(2, 0, 1).reshape(1, s, -1, n).expand(r, s, -1, n).reshape(r * s, -1, n)
    return float((torch.bmm(last_x.mT, torch.bmm(e, last_y)).diagonal(dim1=1, dim2=2)).sum().item())


def gemm_rate(torch: Any, dtype: Any) -> float:
    """Operations a second of a product of 8192 x 8192 matrices."""
    a = torch.randn(8192, 8192, dtype=dtype, device="cuda")

    def work() -> None:
        torch.matmul(a, a)
        torch.cuda.synchronize()

    return 2 * 8192**3 / median_seconds(work, 5)


def name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def close(ours: float, theirs: float, x: list[Any]) -> None:
    bound = 1e-3 if x[0].dtype.itemsize == 4 else 1e-9
    # The numbers have a size of about 1 before cancellation, by the scaling of the cores.
    if not abs(ours - theirs) <= bound * max(abs(theirs), 1e-2):
        print(f"  !! {ours} and {theirs}")


def open_trains(table: Table, torch: Any, context: purlin.Context) -> None:
    for dtype in (torch.float64, torch.float32, torch.complex128):
        for rank in (16, 32, 64, 128, 256, 512, 1024):
            x, y = (cores(torch, 100, 2, rank, False, dtype, seed) for seed in (1, 2))
            with (
                Contraction(context=context) as session,
                Train(x, context=context) as a,
                Train(y, context=context) as b,
            ):
                ours = session.inner(a, b)
                took = median_seconds(lambda session=session, a=a, b=b: session.inner(a, b), 9)
                info = session.last_info()
            if not x[0].is_complex():
                close(ours, loop(torch, x, y), x)
            p, q = packed(x), packed(y)
            theirs = median_seconds(lambda p=p, q=q: loop(torch, p, q), 9)
            assert info is not None
            table.add(
                f"open, d=100 n=2 rank {rank} {name(dtype)}",
                "1/s",
                1 / took,
                "torch loop",
                1 / theirs,
                milliseconds=round(took * 1e3, 4),
                tflops=round(info.flops / took * 1e-12, 3),
                kernel=info.kernel,
            )


def rings(table: Table, torch: Any, context: purlin.Context) -> None:
    for dtype in (torch.float64, torch.float32):
        rate = gemm_rate(torch, dtype)
        for rank in (16, 32, 64, 128):
            x, y = (cores(torch, 50, 2, rank, True, dtype, seed) for seed in (1, 2))
            options: Any = {"workspace_limit": 256 << 20, "method": "blocked"}
            with (
                Contraction(context=context, **options) as session,
                Train(x, context=context) as a,
                Train(y, context=context) as b,
            ):
                ours = session.inner(a, b)
                took = median_seconds(lambda session=session, a=a, b=b: session.inner(a, b), 5)
                info = session.last_info()
            assert info is not None
            facts = {
                "milliseconds": round(took * 1e3, 3),
                "of_gemm": round(info.flops / took / rate, 3),
                "block": info.block,
                "kernel": info.kernel,
                "workspace_mb": round(info.workspace_bytes / 1e6, 1),
            }
            case = f"ring, d=50 n=2 rank {rank} {name(dtype)}"
            if rank > 64:
                table.add(case, "1/s", 1 / took, "none", None, **facts)
                continue
            close(ours, pairs_by_bmm(torch, x, y), x)
            p, q = packed(x), packed(y)
            theirs = median_seconds(lambda p=p, q=q: pairs_by_bmm(torch, p, q), 5)
            table.add(case, "1/s", 1 / took, "torch.bmm", 1 / theirs, **facts)


def norms(table: Table, torch: Any, context: purlin.Context) -> None:
    for rank, cyclic in ((32, False), (512, False), (32, True), (64, True)):
        x, y = (cores(torch, 50, 2, rank, cyclic, torch.float64, seed) for seed in (1, 2))
        with (
            Contraction(context=context) as session,
            Train(x, context=context) as a,
            Train(y, context=context) as b,
        ):
            norm = median_seconds(lambda session=session, a=a: session.norm(a), 7)
            inner = median_seconds(lambda session=session, a=a, b=b: session.inner(a, b), 7)
        table.add(
            f"norm, d=50 rank {rank}{' ring' if cyclic else ''}",
            "1/s",
            1 / norm,
            "inner",
            1 / inner,
        )


def calls(table: Table, torch: Any, context: purlin.Context) -> None:
    """Call after call of small products."""
    for rank in (4, 8, 16):
        x, y = (cores(torch, 50, 2, rank, False, torch.float64, seed) for seed in (1, 2))
        with (
            Contraction(context=context) as session,
            Train(x, context=context) as a,
            Train(y, context=context) as b,
        ):
            took = median_seconds(lambda session=session, a=a, b=b: session.inner(a, b), 101)
        p, q = packed(x), packed(y)
        theirs = median_seconds(lambda p=p, q=q: loop(torch, p, q), 21)
        table.add(f"open, d=50 rank {rank}, a call", "1/s", 1 / took, "torch loop", 1 / theirs)


def batch(table: Table, torch: Any, context: purlin.Context) -> None:
    """Many products of small ranks."""
    d, n, rank, count = 50, 2, 16, 10_000
    ranks = [1] + [rank] * (d - 1) + [1]
    sizes = [ranks[k] * n * ranks[k + 1] for k in range(d)]
    scale = torch.cat([torch.full((size,), (n * ranks[k]) ** -0.5) for k, size in enumerate(sizes)]).cuda()
    generator = torch.Generator(device="cuda").manual_seed(1)

    def made() -> tuple[list[Train], list[Any]]:
        """Trains, each in one piece, and the same cores stacked site by site in torch's own order."""
        flat = torch.randn(count, sum(sizes), dtype=torch.float64, device="cuda", generator=generator) * scale
        stacks, at = [], 0
        for k, size in enumerate(sizes):
            part = flat[:, at : at + size].reshape(count, ranks[k + 1], n, ranks[k])
            stacks.append(part.permute(0, 3, 2, 1).contiguous())
            at += size
        trains = []
        for row in flat.cpu().numpy():
            cores_, at = [], 0
            for k, size in enumerate(sizes):
                cores_.append(row[at : at + size].reshape(ranks[k], n, ranks[k + 1], order="F"))
                at += size
            with Train(cores_, context=context) as host:
                train = Train.create([n] * d, ranks, "float64", "device", context=context)
                host.copy_to(train)
            trains.append(train)
        return trains, stacks

    (x, p), (y, q) = made(), made()

    def by_bmm() -> Any:
        e = torch.ones(count, 1, 1, dtype=torch.float64, device="cuda")
        for a, b in zip(p, q, strict=True):
            _, r, _, r2 = a.shape
            s2 = b.shape[3]
            t = torch.bmm(e.mT, a.reshape(count, r, n * r2)).reshape(count, -1, r2)
            e = torch.bmm(t.mT, b.reshape(count, -1, s2))
        return e.reshape(-1).cpu()

    with Contraction(context=context) as session:
        # The cores of torch's products are stacked before, the handles of purlin's trains collected.
        bras, kets = Trains(x), Trains(y)
        ours, theirs = session.inner_batch(bras, kets), by_bmm().numpy()
        worst = float(abs(ours - theirs).max() / abs(theirs).max())
        took = median_seconds(lambda: session.inner_batch(bras, kets), 9)
        info = session.last_info()
        lists = median_seconds(lambda: session.inner_batch(x, y), 9)
        single = median_seconds(lambda: [session.inner(a, b) for a, b in zip(x[:500], y[:500], strict=True)], 5)
    assert info is not None
    facts = {
        "milliseconds": round(took * 1e3, 3),
        "inside_ms": round(info.seconds * 1e3, 3),
        "from_lists_ms": round(lists * 1e3, 3),
        "difference": f"{worst:.1e}",
    }
    case = f"batch of {count}, d={d} n={n} rank {rank} float64"
    table.add(case, "1/s", count / took, "torch.bmm", count / median_seconds(by_bmm, 9), **facts)
    table.add(case, "1/s", count / took, "calls one by one", 500 / single, **facts)


def tf32(table: Table, torch: Any, context: purlin.Context) -> None:
    """Single precision in TF32, in three products of it and by digits of 8 bits, beside ordinary products, against double precision."""
    for rank in (512, 1024, 2048):
        d = 100 if rank < 2048 else 20
        x = cores(torch, d, 2, rank, False, torch.float32, 1)
        y = [a + 0.1 * b for a, b in zip(x, cores(torch, d, 2, rank, False, torch.float32, 2), strict=True)]
        wide_x, wide_y = ([a.double() for a in t] for t in (x, y))
        took, error = {}, {}
        with Contraction(context=context) as session:
            wide = [Train([a.permute(2, 1, 0).contiguous().permute(2, 1, 0) for a in t], context=context) for t in (wide_x, wide_y)]
            want = session.inner_scaled(*wide)
            size = session.norm_scaled(wide[0]).log_abs + session.norm_scaled(wide[1]).log_abs
        for math in ("default", "tf32", "tf32x3", "int8x6"):
            options: Any = {"math": math}
            with (
                Contraction(context=context, **options) as session,
                Train(x, context=context) as a,
                Train([core.permute(2, 1, 0).contiguous().permute(2, 1, 0) for core in y], context=context) as b,
            ):
                got = session.inner_scaled(a, b)
                took[math] = median_seconds(lambda session=session, a=a, b=b: session.inner_scaled(a, b), 7)
            off = got.mantissa * 2.0 ** (got.exponent - want.exponent) - want.mantissa
            error[math] = abs(off) * np.exp(want.exponent * np.log(2.0) - size)
        p, q = packed(x), packed(y)
        theirs = median_seconds(lambda p=p, q=q: loop(torch, p, q), 7)
        for math in ("tf32", "tf32x3", "int8x6", "default"):
            facts = {
                "milliseconds": round(took[math] * 1e3, 3),
                "error": f"{error[math]:.1e}",
                "error_default": f"{error['default']:.1e}",
            }
            table.add(f"open, d={d} rank {rank} float32, {math}", "1/s", 1 / took[math], "torch loop", 1 / theirs, **facts)


def several(table: Table, torch: Any, contexts: list[purlin.Context]) -> None:
    x, y = (cores(torch, 50, 2, 128, True, torch.float64, seed) for seed in (1, 2))
    one = None
    for count in (1, 2, 4, 8):
        if count > len(contexts):
            break
        with purlin.Group(contexts[:count]) as group, Contraction(group=group, method="blocked") as session:
            with Train(x, context=contexts[0]) as a, Train(y, context=contexts[0]) as b:
                took = median_seconds(lambda session=session, a=a, b=b: session.inner(a, b), 3)
        one = one or took
        table.add(f"ring, d=50 rank 128 on {count} GPUs", "1/s", 1 / took, "one GPU", 1 / one)


def main() -> int:
    gpus = purlin.devices()
    if not gpus:
        print("no GPU here")
        return 77
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: it makes the cores")
        return 77
    torch.backends.cuda.matmul.allow_tf32 = False
    wanted = set(sys.argv[1:]) or {"open", "ring", "norm", "calls", "batch", "tf32", "several"}
    table = Table(
        "inner products of tensor trains on GPUs",
        gpus=len(gpus),
        torch=torch.__version__,
    )
    with purlin.Context("cuda") as context:
        for word, work in (
            ("open", open_trains),
            ("ring", rings),
            ("norm", norms),
            ("calls", calls),
            ("batch", batch),
            ("tf32", tf32),
        ):
            if word in wanted:
                work(table, torch, context)
    if "several" in wanted and len(gpus) > 1:
        contexts = [purlin.Context("cuda", device=gpu.ordinal) for gpu in gpus]
        several(table, torch, contexts)
        for made in contexts:
            made.close()
    table.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
