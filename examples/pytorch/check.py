# SPDX-License-Identifier: MIT
"""The operator beside torch.matmul: python3 examples/pytorch/check.py libbest_gemm.so [--seconds S]

Every tuned problem is compared with torch.matmul on random data, in a stream and in a replayed graph, and both are timed;
then what it refuses or leaves to torch.matmul. Prints a table last and ends with 1 where anything is wrong."""
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


def graph_of(call, launches: int):
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


def host_s(call) -> float:
    """What the calling thread spends on a call while the GPU is never full."""
    best = []
    for _ in range(10):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(50):
            call()
        best.append((time.perf_counter() - begin) / 50)
    torch.cuda.synchronize()
    return statistics.median(best)


def check_problem(m, n, k, dtype, layout):
    a, b = operands(m, n, k, dtype, layout)
    title = f"{m}x{n}x{k} {str(dtype).split('.')[1]} {layout}"
    expect(best_gemm_torch.serves(a, b), f"{title}: no kernel")
    ours, theirs = (lambda: torch.ops.best_gemm.matmul(a, b)), (lambda: torch.matmul(a, b))
    expected = theirs()
    allowed = {torch.float32: 1e-4, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}[dtype]
    worst = error(ours(), expected)
    about_s = max(2e-6, seconds(theirs, 5))
    launches = max(1, min(20, int(0.005 / about_s)))
    our_graph, out = graph_of(ours, launches)
    their_graph, _ = graph_of(theirs, launches)
    out.zero_()
    our_graph.replay()
    worst = max(worst, error(out, expected))
    expect(worst <= allowed, f"{title}: differs from torch.matmul by {worst}")
    stream = compare(ours, theirs, about_s)
    graph = compare(our_graph.replay, their_graph.replay, about_s, launches)
    return title, worst, stream, graph


def check_the_rest() -> None:
    def both(a, b, what):
        expect(error(torch.ops.best_gemm.matmul(a, b), torch.matmul(a, b)) <= 1e-2, what)
    a, b = operands(37, 41, 43, torch.float32, "nn")
    expect(not best_gemm_torch.serves(a, b), "a shape that is not tuned is served")
    both(a, b, "torch.matmul in its place")
    both(torch.randn(64, 128, device="cuda")[:, ::2], torch.randn(64, 32, device="cuda"), "strides of two")
    both(torch.randn(32, 33, dtype=torch.float64, device="cuda"), torch.randn(33, 8, dtype=torch.float64, device="cuda"), "float64")
    meta = torch.ops.best_gemm.matmul(torch.empty(3, 4, device="meta"), torch.empty(4, 5, device="meta"))
    expect(meta.shape == (3, 5) and meta.device.type == "meta", "the Meta function")
    for wrong in ((torch.randn(3, 4), torch.randn(5, 6)), (torch.randn(3), torch.randn(3, 3))):
        try:
            torch.ops.best_gemm.matmul(*wrong)
            expect(False, "what is no product was taken")
        except RuntimeError:
            pass
    m, n, k, dtype, layout = best_gemm_torch.tuned()[0]
    a, b = operands(m, n, k, dtype, layout)
    torch.library.opcheck(torch.ops.best_gemm.matmul.default, (a, b))
    a.requires_grad_()
    b.requires_grad_()
    torch.ops.best_gemm.matmul(a, b).float().sum().backward()
    got = a.grad.clone()
    a.grad = None
    torch.matmul(a, b).float().sum().backward()
    expect(error(got, a.grad) <= 1.6e-2, "the derivative")
    side = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(side):
        on_side = torch.ops.best_gemm.matmul(a, b)
    side.synchronize()
    with torch.no_grad():
        expect(torch.equal(on_side, torch.ops.best_gemm.matmul(a, b)), "another stream has other bits")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--seconds", type=float, default=30, help="no problem is begun after that")
    options = parser.parse_args()
    begin = time.monotonic()
    torch.manual_seed(1)
    best_gemm_torch.load(options.library)
    problems = best_gemm_torch.tuned()
    if not problems or not torch.cuda.is_available():
        print("needs a GPU, and a library of float32, float16 or bfloat16 problems")
        return 77
    rows = []
    with torch.no_grad():
        for problem in problems:
            if time.monotonic() - begin > options.seconds:
                break
            rows.append(check_problem(*problem))
    check_the_rest()
    with torch.no_grad():
        a, b = operands(*problems[0])
        host = host_s(lambda: torch.ops.best_gemm.matmul(a, b)), host_s(lambda: torch.matmul(a, b))
    print(f"{'problem':32} {'error':>8}  stream: us, torch's us, ratio     graph: us, torch's us, ratio")
    for title, worst, stream, graph in rows:
        print(f"{title:32} {worst:8.1e}  " + "   ".join(f"{1e6 * x:9.2f} {1e6 * y:9.2f} {y / x:6.3f}" for x, y in (stream, graph)))
    if rows:
        means = [statistics.geometric_mean(row[which][1] / row[which][0] for row in rows) for which in (2, 3)]
        print(f"mean ratio to torch.matmul: {means[0]:.3f} in a stream, {means[1]:.3f} in a graph")
    print(f"host time of a call: {1e6 * host[0]:.1f} us, torch.matmul's {1e6 * host[1]:.1f} us")
    print(f"{len(rows)} of {len(problems)} problems in {time.monotonic() - begin:.0f} s, {len(_failures)} failures")
    return 1 if _failures else 0


if __name__ == "__main__":
    sys.exit(main())
