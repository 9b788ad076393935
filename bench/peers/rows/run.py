#!/usr/bin/env python3
"""PyTorch's and Triton's softmax and residual RMSNorm on the problems of pgtune's operations of these names: run.py
OUT.json [--device N] [--sizes MxN ...] [--samples N] [--seconds S] [--limit S] [--pgtune FOLDER]

Everything is bf16. softmax: Y = softmax of each row of X. rmsnorm: H = X + R, Y = H / sqrt(mean(H^2) + eps) * W, with H
and Y written; data are filled as operations/*.json say. Contenders: torch.softmax and F.rms_norm as they are, both
through torch.compile (by default and with max-autotune), a Triton kernel of this file with the number of warps and rows
a program that a probe finds fastest, and a copy within the GPU's memory of as many bytes as the operation moves.

A problem: operands and results lie in copies that together are at least four times L2 and that launches take in turn. A
contender's launches are a CUDA graph of about 4 ms. Its first results are compared with float64, element by element,
before it is timed, and the graph's are after it. Then in each of --samples rounds every contender has one sample of
--seconds between two events, in an order that moves by one from round to round: other memory of twice L2 is read, a
replay of 10 ms leads in, and replays follow without a pause. Clock and power come from NVML, every 5 ms (a board's
power is a mean over up to a second there). What is missing is said and left out; beyond --limit seconds max-autotune is
left out and rounds end, but not before the third.

--pgtune FOLDER, with libbest_softmax.so and libbest_rmsnorm.so in it, takes pgtune's kernels into the same rounds: what
`pgtune export header --operation softmax --library best_softmax` writes, and likewise rmsnorm, compiled as
examples/pytorch/best_softmax_torch.py says."""

import argparse
import ctypes
import gc
import json
import math
import os
import statistics
import sys
import threading
import time
import traceback

BEGIN = time.time()
ROUNDOFF = 2.0**-8  # of bf16, relative
EPS = 1e-5
L2_COPIES = 4
GRAPH_S, LEAD_IN_S, PROBE_S = 4e-3, 10e-3, 20e-3
MOST_ELEMENTS_OF_A_THREAD = 128

try:
    import torch
except ImportError as failure:
    torch, TORCH_IS_MISSING = None, str(failure)
try:
    import triton
    import triton.language as tl
except ImportError as failure:
    triton, TRITON_IS_MISSING = None, str(failure)

if triton is not None:

    @triton.jit
    def softmax_rows(x, y, rows, N: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr):
        row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
        column = tl.arange(0, BLOCK)[None, :]
        inside = (row < rows) & (column < N)
        at = row * N + column
        values = tl.load(x + at, mask=inside, other=-float("inf")).to(tl.float32)
        powers = tl.exp(values - tl.max(values, 1)[:, None])
        result = powers / tl.sum(powers, 1)[:, None]
        tl.store(y + at, result.to(y.dtype.element_ty), mask=inside)

    @triton.jit
    def rmsnorm_rows(x, r, w, h, y, rows, eps, N: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr):
        row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
        column = tl.arange(0, BLOCK)[None, :]
        inside = (row < rows) & (column < N)
        at = row * N + column
        left = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
        total = left + tl.load(r + at, mask=inside, other=0.0).to(tl.float32)
        weight = tl.load(w + column, mask=column < N, other=0.0).to(tl.float32)
        tl.store(h + at, total.to(h.dtype.element_ty), mask=inside)
        factor = 1.0 / tl.sqrt(tl.sum(total * total, 1) / N + eps)
        tl.store(y + at, (total * factor[:, None] * weight).to(y.dtype.element_ty), mask=inside)


class LeftOut(Exception):
    """A contender that cannot be had here, and why."""


# ---- The operations: their data, what they move, and what is right.


def fill(operation, m, n, device, generator):
    """The inputs of one launch, as the operation's JSON says."""

    def normal(mean, deviation, *extents):
        values = torch.randn(*extents, device=device, generator=generator) * deviation + mean
        return values.to(torch.bfloat16)

    if operation == "softmax":
        return (normal(0, 4, m, n),)
    return normal(0, 1, m, n), normal(0, 2, m, n), normal(1, 0.25, n)


def moved_bytes(operation, m, n):
    """As pgtune's operations count them."""
    return 4 * m * n if operation == "softmax" else 2 * (4 * m * n + n)


def reference(operation, inputs):
    """The results in float64 of some rows; those of rmsnorm are H and Y, and Y is of H before it is rounded."""
    if operation == "softmax":
        return (torch.softmax(inputs[0].double(), -1),)
    x, r, w = (tensor.double() for tensor in inputs)
    h = x + r
    return h, h / torch.sqrt((h * h).mean(-1, keepdim=True) + EPS) * w


def worst_error(operation, inputs, results):
    """The largest error of any element, in roundings to bf16 of the right value; infinite for what is no number."""
    worst, rows = 0.0, inputs[0].shape[0]
    for first in range(0, rows, 4096):  # in parts, for the memory that float64 takes
        part = [x[first : first + 4096] if x.dim() > 1 else x for x in inputs]
        for right, result in zip(reference(operation, part), results):
            got = result[first : first + 4096]
            if got.dtype != torch.bfloat16 or got.shape != right.shape or not bool(torch.isfinite(got).all()):
                return math.inf
            error = (got.double() - right).abs() / (ROUNDOFF * right.abs() + 1e-30)
            worst = max(worst, float(error.max()))
    return worst


def most_roundings(operation):
    """What is allowed: the result's own rounding, and of rmsnorm those of H and of the normalised row before it is
    weighted, which F.rms_norm rounds to bf16, too; a fiftieth of each for float32. The table says what each has."""
    return 1.02 if operation == "softmax" else 3.06


# ---- What is timed.


class Contender:
    """A way to compute the operation. `call`: takes an operand set's inputs and its results so far, and returns its
    results, which may be new tensors: they are kept, so that the next launch cannot write where this one has."""

    def __init__(self, name, call, sets, results, note=""):
        self.name, self.call, self.sets, self.results, self.note = name, call, sets, list(results), note
        self.samples, self.graph = [], None

    def launch(self, index):
        self.results[index] = self.call(self.sets[index], self.results[index])

    def launch_all(self):
        for index in range(len(self.sets)):
            self.launch(index)

    def capture(self, loops):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(loops):
                self.launch_all()
        self.graph, self.launches = graph, loops * len(self.sets)

    def replay(self, count):
        for _ in range(count):
            self.graph.replay()

    def time(self, count):
        """Seconds that so many replays take."""
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        self.replay(count)
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3

    def prepare(self):
        """Captures a graph of about GRAPH_S; whatever is built at a first launch is built before."""
        self.launch_all()
        torch.cuda.synchronize()
        self.capture(1)
        self.time(1)
        self.capture(max(1, round(GRAPH_S / (self.time(3) / 3))))
        self.time(1)
        self.replay_s = self.time(2) / 2

    def probe(self):
        """Seconds of a launch: the median of three short samples."""
        self.prepare()
        count = max(1, round(PROBE_S / self.replay_s))
        return statistics.median(self.time(count) for _ in range(3)) / count / self.launches

    def sample(self, seconds, sweep, nvml):
        sweep.sum()
        self.replay(max(1, math.ceil(LEAD_IN_S / self.replay_s)))
        count = max(1, math.ceil(seconds / self.replay_s))
        took = self.time(count)
        end = time.time()
        self.replay_s = took / count
        reading = nvml.mean(end - took, end)
        self.samples.append({"us": took / count / self.launches * 1e6, "took_s": took, **reading})


def empty_results(operation, m, n, copies, device):
    one = lambda: torch.full((m, n), float("nan"), device=device, dtype=torch.bfloat16)
    return [tuple(one() for _ in range(1 if operation == "softmax" else 2)) for _ in range(copies)]


def torch_function(operation, n):
    """The operation as a user of PyTorch writes it, of an operand set's inputs."""
    if operation == "softmax":
        return lambda x: (torch.softmax(x, -1),)
    rms_norm = getattr(torch.nn.functional, "rms_norm", None)
    if rms_norm is None:
        raise LeftOut(f"torch {torch.__version__} has no torch.nn.functional.rms_norm")

    def residual_rms_norm(x, r, w):
        h = x + r
        return h, rms_norm(h, (n,), w, EPS)

    return residual_rms_norm


def eager(operation, m, n, sets, results):
    function = torch_function(operation, n)
    name = "torch.softmax" if operation == "softmax" else "x + r, F.rms_norm"
    return Contender(name, lambda inputs, _: function(*inputs), sets, results)


def compiled(mode, operation, m, n, sets, results):
    if triton is None:
        raise LeftOut(f"it needs Triton, which is not installed ({TRITON_IS_MISSING})")
    function = torch.compile(torch_function(operation, n), dynamic=False, fullgraph=True, mode=mode)
    name = "torch.compile" + (" max-autotune" if mode else "")
    return Contender(name, lambda inputs, _: function(*inputs), sets, results)


def triton_call(operation, m, n, rows, warps):
    """Launches this file's kernel, into the results that are there."""
    grid, meta = (-(-m // rows),), {"N": n, "BLOCK": triton.next_power_of_2(n), "ROWS": rows, "num_warps": warps}

    def softmax(inputs, results):
        softmax_rows[grid](*inputs, *results, m, **meta)
        return results

    def rmsnorm(inputs, results):
        rmsnorm_rows[grid](*inputs, *results, m, EPS, **meta)
        return results

    return softmax if operation == "softmax" else rmsnorm


def triton_shapes(n):
    """(rows a program, warps) that are tried: one row, and as many as have 4096 elements."""
    block = triton.next_power_of_2(n)
    for rows in sorted({1, max(1, 4096 // block)}):
        for warps in (1, 2, 4, 8, 16):
            if rows * block <= MOST_ELEMENTS_OF_A_THREAD * 32 * warps:
                yield rows, warps


def of_triton(operation, m, n, sets, results):
    if triton is None:
        raise LeftOut(f"Triton is not installed ({TRITON_IS_MISSING})")
    best, best_s, tried = None, math.inf, {}
    for rows, warps in triton_shapes(n):
        shape = f"{rows} {'row' if rows == 1 else 'rows'} a program, {warps} {'warp' if warps == 1 else 'warps'}"
        try:
            one = Contender("Triton", triton_call(operation, m, n, rows, warps), sets, results, shape)
            seconds = one.probe()
        except Exception as failure:  # such as too many registers
            tried[shape] = repr(failure)[:200]
            continue
        tried[shape] = seconds * 1e6
        if seconds < best_s:
            best, best_s = one, seconds
    if best is None:
        raise RuntimeError(f"none of the shapes could be launched: {tried}")
    best.tried = tried
    return best


def of_pgtune(folder, operation, m, n, sets, results):
    """The exported kernel that is tuned for the problem, through its C interface."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "examples", "pytorch"))
    from exported_operation import Operation

    path = os.path.join(os.path.abspath(folder), f"libbest_{operation}.so")
    exported, device = Operation(path, f"best_{operation}", f"{operation}_bf16"), torch.cuda.current_device()
    exported.prepare(device)
    addresses = [[tensor.data_ptr() for tensor in (*inputs, *out)] for inputs, out in zip(sets, results)]
    selected = exported.select((m, n), addresses[0], device)
    if selected is None:
        raise LeftOut("no kernel is tuned for it")
    space = torch.empty(max(1, selected.workspace_bytes), device="cuda", dtype=torch.uint8)

    def call(inputs, out):
        buffers = [tensor.data_ptr() for tensor in (*inputs, *out)]
        exported.run(selected, buffers, space.data_ptr(), torch.cuda.current_stream().cuda_stream)
        return out

    return Contender("pgtune", call, sets, results)


def copy(operation, m, n, copies, device):
    """As many bytes as the operation moves, half of them read and half written: the faster of the driver's copy and of
    an elementwise kernel of PyTorch's, by a probe."""
    elements = moved_bytes(operation, m, n) // 8
    sets = [(torch.randint(-(2**31), 2**31, (elements,), device=device, dtype=torch.int32),) for _ in range(copies)]
    results = [(torch.empty_like(inputs[0]),) for inputs in sets]

    def by_driver(inputs, out):
        out[0].copy_(inputs[0])
        return out

    def by_kernel(inputs, out):
        torch.bitwise_not(inputs[0], out=out[0])
        return out

    ways = [Contender("copy", by_driver, sets, results, "by the driver"), Contender("copy", by_kernel, sets, results, "by a kernel")]
    tried = {way.note: way.probe() * 1e6 for way in ways}
    best = min(ways, key=lambda way: tried[way.note])
    best.tried = tried
    return best


# ---- Clock and power.


class Nvml:
    """SM clock and power of the GPU that torch uses, read in a thread by the driver's own library."""

    def __init__(self, device):
        self.trace, self.over, self.missing = [], threading.Event(), ""
        try:
            self.library = ctypes.CDLL("libnvidia-ml.so.1")
            self.call("nvmlInit_v2")
            self.handle = ctypes.c_void_p()
            self.find(torch.cuda.get_device_properties(device))
            self.read()
            self.thread = threading.Thread(target=self.poll, daemon=True)
            self.thread.start()
        except Exception as failure:
            self.missing = f"{failure}"

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} answers {status}")

    def find(self, properties):
        """NVML numbers all GPUs, CUDA those that are visible: the same one is found by its name."""
        out, ways = ctypes.byref(self.handle), []
        if hasattr(properties, "uuid"):
            ways.append(("nvmlDeviceGetHandleByUUID", f"GPU-{properties.uuid}".encode()))
        if hasattr(properties, "pci_bus_id"):
            domain, bus, slot = (getattr(properties, "pci_" + part + "_id", 0) for part in ("domain", "bus", "device"))
            ways.append(("nvmlDeviceGetHandleByPciBusId_v2", f"{domain:08x}:{bus:02x}:{slot:02x}.0".encode()))
        failure = RuntimeError("torch says neither the GPU's UUID nor its place on the bus")
        for name, argument in ways:
            try:
                return self.call(name, argument, out)
            except Exception as wrong:
                failure = wrong
        raise failure

    def read(self):
        clock, power = ctypes.c_uint(), ctypes.c_uint()
        self.call("nvmlDeviceGetClockInfo", self.handle, ctypes.c_int(1), ctypes.byref(clock))  # 1: of the SMs
        self.call("nvmlDeviceGetPowerUsage", self.handle, ctypes.byref(power))
        return clock.value, power.value / 1e3

    def poll(self):
        while not self.over.wait(5e-3):
            try:
                self.trace.append((time.time(), *self.read()))
            except Exception as failure:
                self.missing = f"{failure}"
                return

    def mean(self, begin, end):
        """Over what was read in that time; nothing where nothing was."""
        inside = [reading for reading in list(self.trace) if begin <= reading[0] <= end]
        del self.trace[: max(0, len(self.trace) - 1000)]
        mean = lambda place: sum(reading[place] for reading in inside) / len(inside) if inside else None
        return {"sm_mhz": mean(1), "power_w": mean(2)}


# ---- A problem, and the report.


def elapsed():
    return time.time() - BEGIN


def measure(operation, m, n, options, sweep, nvml, problems_left):
    device = torch.device("cuda", options.device)
    bytes_ = moved_bytes(operation, m, n)
    l2 = torch.cuda.get_device_properties(device).L2_cache_size
    copies = max(2, -(-L2_COPIES * l2 // bytes_))
    generator = torch.Generator(device)
    generator.manual_seed(1)
    sets = [fill(operation, m, n, device, generator) for _ in range(copies)]
    out = {"operation": operation, "sizes": f"M={m},N={n}", "bytes": bytes_, "copies": copies, "results": [], "left_out": {}}
    # About what is still to be done: this problem's rounds, and those behind it with what is built for them
    round_s = options.seconds + 0.02
    to_come_s = 5 * options.samples * round_s + (problems_left - 1) * (4 * options.samples * round_s + 5)

    makers = {
        "torch": lambda results: eager(operation, m, n, sets, results),
        "torch.compile": lambda results: compiled(None, operation, m, n, sets, results),
        "Triton": lambda results: of_triton(operation, m, n, sets, results),
        "torch.compile max-autotune": lambda results: compiled("max-autotune-no-cudagraphs", operation, m, n, sets, results),
    }
    if options.pgtune is not None:
        makers["pgtune"] = lambda results: of_pgtune(options.pgtune, operation, m, n, sets, results)
    contenders = []
    for name, make in makers.items():
        begin = time.time()
        try:
            if name.endswith("max-autotune") and elapsed() + 5 + to_come_s > options.limit:
                raise LeftOut(f"--limit of {options.limit:g} s")
            one = make(empty_results(operation, m, n, copies, device))
            one.results = empty_results(operation, m, n, copies, device)  # nothing of another way's stands in it
            one.launch_all()
            torch.cuda.synchronize()
            one.error = max(worst_error(operation, *pair) for pair in zip(sets, one.results))
            if not one.error <= most_roundings(operation):
                raise RuntimeError(f"wrong: off by {one.error:.3g} roundings to bf16")
            one.prepare()
            one.ready_s = time.time() - begin
            contenders.append(one)
        except LeftOut as failure:
            out["left_out"][name] = str(failure)
        except Exception as failure:
            traceback.print_exc()
            out["left_out"][name] = f"failed: {failure!r}"[:500]
    try:
        yardstick = copy(operation, m, n, copies, device)
        yardstick.prepare()
        yardstick.error, yardstick.ready_s = None, None
        contenders.append(yardstick)
    except Exception as failure:
        traceback.print_exc()
        out["left_out"]["copy"] = f"failed: {failure!r}"[:500]

    rounds = 0
    while contenders and rounds < options.samples:
        later_s = (problems_left - 1) * (5 * 3 * options.seconds + 6)
        if rounds >= 3 and elapsed() + later_s > options.limit:
            break
        for place in range(len(contenders)):
            contenders[(place + rounds) % len(contenders)].sample(options.seconds, sweep, nvml)
        rounds += 1
    torch.cuda.synchronize()

    of_copy = [s["us"] for c in contenders if c.name == "copy" for s in c.samples]
    for one in contenders:
        us = [s["us"] for s in one.samples]
        result = {"name": one.name, "note": one.note, "us": statistics.median(us), "least_us": min(us), "most_us": max(us)}
        result["spread"] = (max(us) - min(us)) / result["us"]
        result["gbps"] = bytes_ / result["us"] / 1e3
        result["of_a_copy"] = statistics.median(c / u for c, u in zip(of_copy, us)) if of_copy else None
        for key in ("sm_mhz", "power_w"):
            known = [s[key] for s in one.samples if s[key] is not None]
            result[key] = statistics.median(known) if known else None
        if one.name != "copy":
            result["roundings"], result["ready_s"] = one.error, one.ready_s
            result["roundings_after"] = max(worst_error(operation, *pair) for pair in zip(sets, one.results))
            if not result["roundings_after"] <= most_roundings(operation):
                out["left_out"][one.name] = f"wrong after it was timed: {result['roundings_after']:.3g} roundings"
        result["tried"] = getattr(one, "tried", None)
        result["launches_of_a_graph"], result["samples"] = one.launches, one.samples
        out["results"].append(result)
    return out


def table(document):
    """What is printed last."""
    number = lambda value, form: "-" if value is None else format(value, form)
    lines = []
    for problem in document["problems"]:
        lines.append(f"{problem['operation']} bf16 {problem['sizes']}, {problem['bytes'] / 1e6:.1f} MB a launch, {problem['copies']} copies")
        lines.append(f"  {'':<27}{'us':>8} {'spread':>7} {'GB/s':>6} {'of a copy':>10} {'MHz':>6} {'W':>5} {'roundings':>10}  samples")
        for r in sorted(problem["results"], key=lambda r: r["us"]):
            lines.append(
                f"  {r['name']:<27}{r['us']:8.2f} {r['spread']:7.2%} {r['gbps']:6.0f} {number(r['of_a_copy'], '.3f'):>10} "
                f"{number(r['sm_mhz'], '.0f'):>6} {number(r['power_w'], '.0f'):>5} {number(r.get('roundings'), '.3f'):>10}  "
                f"{len(r['samples'])}{', ' + r['note'] if r['note'] else ''}"
            )
        lines += [f"  {name}: left out, {why}" for name, why in problem["left_out"].items()]
    return "\n".join(lines)


def size(text):
    m, _, n = text.partition("x")
    if not (m.isdigit() and n.isdigit() and int(m) > 0 and int(n) > 0):
        raise argparse.ArgumentTypeError(f"'{text}' is not MxN, such as 4096x8192")
    return int(m), int(n)


def main():
    parser = argparse.ArgumentParser(description="PyTorch's and Triton's softmax and RMSNorm as pgtune times its own")
    parser.add_argument("out", metavar="OUT.json")
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--sizes", type=size, nargs="+", default=[(4096, 8192), (65536, 1024)], metavar="MxN")
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0.25, help="of a sample")
    parser.add_argument("--pgtune", metavar="FOLDER", help="with libbest_softmax.so and libbest_rmsnorm.so")
    parser.add_argument("--limit", type=float, default=90, help="seconds of the whole run, about")
    options = parser.parse_args()
    if torch is None:
        sys.exit(f"PyTorch is not installed: {TORCH_IS_MISSING}")
    if not torch.cuda.is_available():
        sys.exit("torch finds no CUDA GPU")
    torch.cuda.set_device(options.device)
    torch.set_grad_enabled(False)
    gc.collect()
    gc.freeze()  # each capture collects garbage, and modules are none
    properties = torch.cuda.get_device_properties(options.device)
    nvml = Nvml(options.device)
    document = {
        "device": properties.name,
        "sms": properties.multi_processor_count,
        "l2_bytes": properties.L2_cache_size,
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "triton": triton.__version__ if triton else None,
        "nvml": nvml.missing or "read",
        "samples": options.samples,
        "seconds": options.seconds,
        "problems": [],
    }
    print(f"{properties.name}, torch {torch.__version__}, Triton {document['triton'] or 'is not installed'}; NVML {document['nvml']}", flush=True)
    sweep = torch.ones(2 * properties.L2_cache_size // 4, device="cuda")
    problems = [(operation, m, n) for operation in ("softmax", "rmsnorm") for m, n in options.sizes]
    for index, (operation, m, n) in enumerate(problems):
        try:
            found = measure(operation, m, n, options, sweep, nvml, len(problems) - index)
        except Exception as failure:
            traceback.print_exc()
            found = {"operation": operation, "sizes": f"M={m},N={n}", "bytes": moved_bytes(operation, m, n), "copies": 0}
            found |= {"results": [], "left_out": {"all": f"failed: {failure!r}"[:500]}}
        document["problems"].append(found)
        document["took_s"] = elapsed()
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
        print(f"{operation} {m}x{n}: done after {elapsed():.1f} s", flush=True)
        torch.cuda.empty_cache()
    nvml.over.set()
    print(table(document))
    wrong = [why for problem in document["problems"] for why in problem["left_out"].values() if why.startswith(("failed", "wrong"))]
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
