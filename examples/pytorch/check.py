# SPDX-License-Identifier: MIT
"""The operator beside torch.mm: python3 examples/pytorch/check.py PACKAGE [--seconds S]

PACKAGE is a folder of `pgtune export header --library`. First what needs no GPU: registration, shapes, derivatives and what is
left to PyTorch. Then every tuned problem on random data, in a stream and in a replayed graph, with times; torch.mm, addmm and
linear where they are enabled, eager, compiled and in graphs; and the host time of calls. Ends with 1 where anything is wrong,
with 77 without a GPU."""
import argparse
import statistics
import sys
import time

import torch

import best_gemm_torch

_failures = []


def expect(condition: bool, what: str) -> None:
    if not condition:
        _failures.append(what)
        print("FAILED:", what)


def operands(m: int, n: int, k: int, dtype: torch.dtype, layout: str):
    def matrix(rows, columns, letter):
        if letter == "n":
            return torch.randn(rows, columns, dtype=dtype, device="cuda")
        return torch.randn(columns, rows, dtype=dtype, device="cuda").t()
    return matrix(m, k, layout[0]), matrix(k, n, layout[1])


def error(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """Largest difference over the largest element, of at most 512 rows."""
    rows = slice(None, None, max(1, ours.shape[0] // 512))
    ours, theirs = ours[rows].double(), theirs[rows].double()
    return float((ours - theirs).abs().max() / theirs.abs().max())


def graph_of(call, launches: int = 1):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(launches):
            out = call()
    return graph, out


def seconds(call, times: int) -> float:
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(times):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3 / times


def compare(ours, theirs, about_s: float, per_call: int = 1):
    """Median seconds of each, by samples in turn."""
    times = max(1, int(0.01 / (about_s * per_call)))
    samples = ([], [])
    for round_ in range(7):
        for which in ((0, 1) if round_ % 2 else (1, 0)):
            samples[which].append(seconds((ours, theirs)[which], times) / per_call)
    return statistics.median(samples[0]), statistics.median(samples[1])


def host_us(call) -> float:
    """What the calling thread spends on a call while the GPU is never full."""
    best = []
    for _ in range(20):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(50):
            call()
        best.append((time.perf_counter() - begin) / 50 * 1e6)
    torch.cuda.synchronize()
    return statistics.median(best)


def check_without_gpu() -> None:
    mm = torch.ops.best_gemm.mm
    a, b = torch.randn(5, 7), torch.randn(7, 3)
    for enabled in (False, True):
        best_gemm_torch.enable(enabled)
        expect(torch.equal(mm(a, b), torch.mm(a, b)), "what no kernel serves is torch.mm's")
    best_gemm_torch.enable(False)
    meta = mm(torch.empty(3, 4, device="meta"), torch.empty(4, 5, device="meta"))
    expect(meta.shape == (3, 5) and meta.device.type == "meta", "the Meta function")
    for wrong in ((torch.randn(3, 4), torch.randn(5, 6)), (torch.randn(3), torch.randn(3, 3)), (a, b.double())):
        try:
            mm(*wrong)
            expect(False, "what is no product was taken")
        except RuntimeError:
            pass
    torch.library.opcheck(mm.default, (a.requires_grad_(), b.requires_grad_()))
    expect(torch.autograd.gradgradcheck(mm, [x.detach().double().requires_grad_() for x in (a, b)]), "the derivative")


def check_problem(m, n, k, dtype, layout):
    a, b = operands(m, n, k, dtype, layout)
    title = f"{m}x{n}x{k} {str(dtype).split('.')[1]} {layout}"
    expect(torch.ops.best_gemm.serves(a, b), f"{title}: no kernel")
    ours, theirs = (lambda: torch.ops.best_gemm.mm(a, b)), (lambda: torch.mm(a, b))
    expected = theirs()
    allowed = {torch.float32: 1e-4, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}[dtype]
    worst = error(ours(), expected)
    about_s = max(2e-6, seconds(theirs, 5))
    launches = max(1, min(20, int(0.005 / about_s)))
    (our_graph, out), (their_graph, _) = graph_of(ours, launches), graph_of(theirs, launches)
    out.zero_()
    our_graph.replay()
    worst = max(worst, error(out, expected))
    expect(worst <= allowed, f"{title}: differs from torch.mm by {worst}")
    return title, worst, compare(ours, theirs, about_s), compare(our_graph.replay, their_graph.replay, about_s, launches)


def check_enabled(m, n, k, dtype, layout) -> None:
    """torch.mm, linear, compiled functions and graphs by PyTorch's own kernels and by ours; the host time of calls."""
    a, b = operands(m, n, k, dtype, layout)
    bias, c = torch.randn(n, dtype=dtype, device="cuda"), torch.randn(m, n, dtype=dtype, device="cuda")
    out = torch.empty_like(c)
    small = torch.randn(37, 41, device="cuda"), torch.randn(41, 43, device="cuda")
    calls = {  # by the tuned kernel, if that is faster than cuBLASLt
        "mm": lambda: torch.mm(a, b),
        "mm, out=": lambda: torch.mm(a, b, out=out),
        "linear": lambda: torch.nn.functional.linear(a, b.t()),
        "autocast": lambda: torch.mm(a.float(), b.float()),
        "compiled": torch.compile(lambda: torch.mm(a, b)),
        "compiled, graphs": torch.compile(lambda: torch.mm(a, b), mode="reduce-overhead"),
        # by other kernels
        "linear with bias": lambda: torch.nn.functional.linear(a, b.t(), bias),
        "addmm of a matrix": lambda: torch.addmm(c, a, b, beta=0.5),
        "mm, not tuned": lambda: torch.mm(*small),
    }
    bits = torch.ops.best_gemm.mm(a, b)
    print(f"host time in microseconds, {m}x{n}x{k} {layout}; best_gemm.mm: {host_us(lambda: torch.ops.best_gemm.mm(a, b)):.2f}")
    for name, call in calls.items():
        results, times = [], []
        for enabled in (False, True):
            best_gemm_torch.enable(enabled)
            torch.compiler.reset()  # a graph keeps the kernels that it was captured with
            with torch.autocast("cuda", dtype, enabled=name == "autocast" and dtype is not torch.float32):
                for _ in range(4):
                    result = call().clone()
                results.append(result)
                times.append(host_us(call))
                if "compiled" not in name:
                    graph, in_graph = graph_of(call)
                    in_graph.zero_()
                    graph.replay()
                    expect(torch.equal(in_graph, result), f"{name}: a graph has other bits")
        expect(error(*results) <= 1.6e-2, f"{name}: differs")
        kernel = "ours" if torch.equal(results[1], bits) else "torch's" if torch.equal(*results) else "another"
        print(f"  {name:18} {times[0]:8.2f} enabled {times[1]:8.2f}, kernel: {kernel}")
    best_gemm_torch.enable(False)


def check_streams_and_derivatives(m, n, k, dtype, layout) -> None:
    a, b = operands(m, n, k, dtype, layout)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        on_side = torch.ops.best_gemm.mm(a, b)
    side.synchronize()
    expect(torch.equal(on_side, torch.ops.best_gemm.mm(a, b)), "another stream has other bits")
    a.requires_grad_()
    for enabled, call in ((False, torch.mm), (False, torch.ops.best_gemm.mm), (True, torch.mm)):
        best_gemm_torch.enable(enabled)
        gradient, = torch.autograd.grad(call(a, b).float().sum(), a)
        expected = gradient if call is torch.mm and not enabled else expected
        expect(error(gradient, expected) <= 1.6e-2, "the derivative")
    best_gemm_torch.enable(False)
    for x in (torch.randn(64, 128, device="cuda")[:, ::2], torch.randn(8, 64, dtype=torch.float64, device="cuda")):
        y = torch.randn(64, 32, dtype=x.dtype, device="cuda")
        expect(torch.equal(torch.ops.best_gemm.mm(x, y), torch.mm(x, y)), "what no kernel serves is torch.mm's")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("package")
    parser.add_argument("--seconds", type=float, default=30, help="no problem is begun after that")
    options = parser.parse_args()
    torch.manual_seed(1)
    best_gemm_torch.load(options.package)
    check_without_gpu()
    problems = best_gemm_torch.tuned()
    if not problems or not torch.cuda.is_available():
        print(f"{len(_failures)} failures without a GPU; the rest needs one, and float32, float16 or bfloat16 problems")
        return 1 if _failures else 77
    begin = time.monotonic()
    rows = []
    with torch.no_grad():
        for problem in problems:
            if time.monotonic() - begin > options.seconds:
                break
            rows.append(check_problem(*problem))
        check_enabled(*min(problems, key=lambda problem: problem[0] * problem[1] * problem[2]))
    check_streams_and_derivatives(*problems[0])
    print(f"{'problem':32} {'error':>8}  stream: us, torch's us, ratio     graph: us, torch's us, ratio")
    for title, worst, stream, graph in rows:
        print(f"{title:32} {worst:8.1e}  " + "   ".join(f"{1e6 * x:9.2f} {1e6 * y:9.2f} {y / x:6.3f}" for x, y in (stream, graph)))
    print(f"{len(rows)} of {len(problems)} problems in {time.monotonic() - begin:.0f} s, {len(_failures)} failures")
    return 1 if _failures else 0


if __name__ == "__main__":
    sys.exit(main())
