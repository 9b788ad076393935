#!/usr/bin/env python3
"""DeepGEMM 2.6.1 (54e2261) timed in settled samples: run.py OUT.json [--device
N] [--samples N] [--spin S] [NAME...]

Without names all twelve problems; --list prints the names; a part of a name picks all that hold it ('masked',
'4096x4096x7168'). --library MxNxK times torch.mm of bf16 instead, A times B transposed by cuBLAS, in the same loop and
without DeepGEMM: what pgtune bench says of cuBLASLt for the same product tells what the loop itself makes of a time.
A problem: operands are made, the kernel spins for --spin seconds, and then N times a lead-in of 0.5 s and a sample of
0.25 s follow with no pause between any of them: what comes next is always in the
stream before the last has ended. A launch finds its operands in copies that rotate over at least four times L2. Clock
and power are read by NVML at each sample's end, while the next lead-in runs, and every 10 ms besides.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

os.environ.setdefault("DG_JIT_CACHE_DIR", os.path.join(tempfile.gettempdir(), "pgtune-deepgemm-cache"))
os.environ.setdefault("DG_PRINT_CONFIGS", "1")
if os.path.isdir("/usr/local/cuda"):
    os.environ.setdefault("CUDA_HOME", "/usr/local/cuda")
home = os.environ.get("CUDA_HOME", "")
if (
    home and not os.path.exists(os.path.join(home, "bin", "cuobjdump")) and shutil.which("cuobjdump")
):  # DeepGEMM wants it beside nvcc
    shadow = os.path.join(tempfile.gettempdir(), "pgtune-deepgemm-cuda")
    os.makedirs(os.path.join(shadow, "bin"), exist_ok=True)
    for link, to in (
        (os.path.join(shadow, "bin", "cuobjdump"), shutil.which("cuobjdump")),
        (os.path.join(shadow, "include"), os.path.join(home, "include")),
    ):
        if not os.path.lexists(link):
            os.symlink(to, link)
    os.environ.setdefault("DG_JIT_NVCC_COMPILER", os.path.join(home, "bin", "nvcc"))
    os.environ["CUDA_HOME"] = shadow

DENSE = [
    (64, 4096, 7168),
    (128, 4096, 7168),
    (1024, 4096, 7168),
    (4096, 4096, 7168),
    (128, 7168, 2048),
    (4096, 7168, 2048),
    (512, 4096, 7168),
    (4096, 2112, 7168),
]
GROUPED = [(4, 32768, 4096, 7168), (8, 32768, 7168, 2048)]
MASKED = [(32, 4096, 20, 4096, 7168), (32, 4096, 192, 4096, 7168)]
PROBLEMS = {}
for m, n, k in DENSE:
    PROBLEMS[f"dense-{m}x{n}x{k}"] = ("gemm_block_scaled", {"M": m, "N": n, "K": k})
for g, m, n, k in GROUPED:
    PROBLEMS[f"grouped-{g}x{m}x{n}x{k}"] = ("gemm_grouped_block_scaled", {"G": g, "M": m, "N": n, "K": k})
for g, r, e, n, k in MASKED:
    PROBLEMS[f"masked-{g}x{r}x{e}x{n}x{k}"] = ("gemm_masked_block_scaled", {"G": g, "R": r, "E": e, "N": n, "K": k})

parser = argparse.ArgumentParser()
parser.add_argument("out", nargs="?")
parser.add_argument("names", nargs="*")
parser.add_argument("--device", type=int, default=0)
parser.add_argument("--samples", type=int, default=3)
parser.add_argument("--spin", type=float, default=3.0)
parser.add_argument("--lead-in", type=float, default=0.5)
parser.add_argument("--seconds", type=float, default=0.25)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--library", action="append", default=[], metavar="MxNxK")
parser.add_argument("--list", action="store_true")
parser.add_argument("--build", help="internal: build this problem's kernel alone")
parser.add_argument("--no-build", action="store_true", help="do not build the kernels side by side first")
arguments = parser.parse_args()
if arguments.list:
    print(*PROBLEMS, sep="\n")
    sys.exit()
if arguments.build is None and arguments.out is None:
    parser.error("OUT.json is missing")

chosen = [name for name in PROBLEMS if not arguments.names or any(word == name for word in arguments.names)]
for word in arguments.names:
    if word not in PROBLEMS:
        found = [name for name in PROBLEMS if word in name]
        if not found:
            parser.error(f"no problem '{word}'; --list names them")
        chosen += [name for name in found if name not in chosen]

if arguments.library:
    PROBLEMS = {
        f"library-{shape}": ("gemm", dict(zip("MNK", map(int, shape.split("x"))))) for shape in arguments.library
    }
    chosen = list(PROBLEMS)

if arguments.build is None and not arguments.no_build and not arguments.library:  # one process a problem: a kernel takes nvcc 5 to 20 s
    begin = time.time()
    builders = [
        (
            name,
            subprocess.Popen(
                [sys.executable, os.path.abspath(__file__), "--build", name, "--device", str(arguments.device)],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            ),
        )
        for name in chosen
    ]
    for name, builder in builders:
        text = builder.communicate()[0]
        if builder.returncode:
            print(f"{name}: the build ended with {builder.returncode}:\n{text[-1500:]}", flush=True)
    print(f"kernels built in {time.time() - begin:.1f} s", flush=True)

import torch

torch.cuda.set_device(arguments.device)

if not arguments.library:
    import deep_gemm
    from deep_gemm.utils import per_block_cast_to_fp8, per_token_cast_to_fp8

BLOCK = 128


def ceil_div(a, b):
    return -(-a // b)


def bytes_and_flops(operation, s):
    """As pgtune's operations count them."""
    n, k = s["N"], s["K"]
    bk, bn = ceil_div(k, BLOCK), ceil_div(n, BLOCK)
    if operation == "gemm":
        return 2 * (s["M"] * k + n * k + s["M"] * n), 2 * s["M"] * n * k
    if operation == "gemm_block_scaled":
        m = s["M"]
        return m * k + n * k + 4 * (m * bk + bn * bk) + 2 * m * n, 2 * m * n * k
    if operation == "gemm_grouped_block_scaled":
        m, g = s["M"], s["G"]
        return m * k + g * n * k + 4 * (m * bk + g * bn * bk + g + 1) + 2 * m * n, 2 * m * n * k
    g, e = s["G"], s["E"]
    return g * (e * k + n * k + 4 * (e * bk + bn * bk + 1) + 2 * e * n), 2 * e * g * n * k


def joined(how, parts):
    """torch.cat or torch.stack of 8-bit floats, as bytes."""
    return how([part.view(torch.uint8) for part in parts]).view(torch.float8_e4m3fn)


def quantise(rows, k, per_token, generator, fake):
    if fake:
        scale_rows = rows if per_token else ceil_div(rows, BLOCK)
        return torch.zeros(rows, k, device="cuda", dtype=torch.uint8).view(torch.float8_e4m3fn), torch.ones(
            scale_rows, ceil_div(k, BLOCK), device="cuda"
        )
    # In parts of whole blocks, for the memory that float32 takes
    parts = []
    for first in range(0, rows, 8192):
        x = torch.randn(min(8192, rows - first), k, device="cuda", generator=generator)
        parts.append((per_token_cast_to_fp8 if per_token else per_block_cast_to_fp8)(x, use_ue8m0=False))
    return (joined(torch.cat, [p[0] for p in parts]), torch.cat([p[1] for p in parts])) if len(parts) > 1 else parts[0]


def row_sizes(operation, s, generator):
    """Rows of groups, 0.7 to 1.3 times the mean: in whole blocks of 128 that add up to M, or in pairs that add up to twice the mean, as pgtune's vary_rows has them."""
    weights = torch.rand(s["G"], device="cuda", generator=generator).cpu().tolist()
    if operation == "gemm_grouped_block_scaled":
        shares = [0.7 + 0.6 * w for w in weights]
        blocks, before, last = s["M"] // BLOCK, 0.0, 0
        sizes = []
        for index, share in enumerate(shares):
            before += share
            end = blocks if index + 1 == len(shares) else round(blocks * before / sum(shares))
            sizes.append((end - last) * BLOCK)
            last = end
        return sizes
    sizes = [s["E"]] * s["G"]
    for group in range(0, s["G"] - 1, 2):
        more = int(0.3 * s["E"] * (2 * weights[group] - 1))
        sizes[group] += more
        sizes[group + 1] -= more
    return sizes


class Copy:
    """Operands and result of one launch."""

    def __init__(self, operation, s, generator=None, fake=False, like=None):
        self.operation, self.s = operation, s
        n, k = s["N"], s["K"]
        if like is not None:
            self.a, self.b = like.a.clone(), like.b.clone()
            self.sa, self.sb = like.sa.clone(memory_format=torch.preserve_format), like.sb.clone()
            self.sizes = like.sizes
            self.rows = None if like.rows is None else like.rows.clone()
            assert self.sa.stride() == like.sa.stride()
        else:
            self.rows, self.sizes = None, None
            groups = s.get("G", 1)
            if operation == "gemm_masked_block_scaled":
                a = [quantise(s["R"], k, True, generator, fake) for _ in range(groups)]
                self.a, sa = joined(torch.stack, [x[0] for x in a]), torch.stack([x[1] for x in a])
            else:
                self.a, sa = quantise(s["M"], k, True, generator, fake)
            self.sa = deep_gemm.get_mn_major_tma_aligned_tensor(sa)  # once, so that no launch transposes
            b = [quantise(n, k, False, generator, fake) for _ in range(groups)]
            self.b, self.sb = joined(torch.stack, [x[0] for x in b]), torch.stack([x[1] for x in b])
            if operation == "gemm_block_scaled":
                self.b, self.sb = self.b[0], self.sb[0]
            else:
                self.sizes = [s["M"] // groups] * groups if fake and "M" in s else row_sizes(operation, s, generator)
                rows = torch.tensor(self.sizes, dtype=torch.int32, device="cuda")
                self.rows = (
                    rows
                    if operation == "gemm_masked_block_scaled"
                    else torch.repeat_interleave(torch.arange(groups, dtype=torch.int32, device="cuda"), rows.long())
                )
        shape = (s["G"], s["R"], n) if operation == "gemm_masked_block_scaled" else (s["M"], n)
        self.d = torch.full(shape, float("nan"), device="cuda", dtype=torch.bfloat16)

    def launch(self):
        if self.operation == "gemm_block_scaled":
            deep_gemm.fp8_gemm_nt((self.a, self.sa), (self.b, self.sb), self.d)
        elif self.operation == "gemm_grouped_block_scaled":
            deep_gemm.m_grouped_fp8_gemm_nt_contiguous((self.a, self.sa), (self.b, self.sb), self.d, self.rows)
        else:
            deep_gemm.m_grouped_fp8_gemm_nt_masked((self.a, self.sa), (self.b, self.sb), self.d, self.rows, self.s["E"])

    def check(self):
        """Against float32 products of what the operands stand for: all columns of up to 64 rows a group, its first and last among them."""

        def some(first, count):
            return torch.unique(
                torch.cat(
                    [
                        torch.tensor([first, first + count - 1]),
                        first + torch.randint(count, (62 if self.sizes else 254,)),
                    ]
                )
            ).cuda()

        parts = []  # group, rows in A and D
        if self.operation == "gemm_block_scaled":
            parts.append((self.a, self.sa, self.b, self.sb, self.d, some(0, self.s["M"])))
        elif self.operation == "gemm_grouped_block_scaled":
            first = 0
            for group, count in enumerate(self.sizes):
                if count:
                    parts.append((self.a, self.sa, self.b[group], self.sb[group], self.d, some(first, count)))
                first += count
        else:
            for group, count in enumerate(self.sizes):
                if count:
                    parts.append(
                        (self.a[group], self.sa[group], self.b[group], self.sb[group], self.d[group], some(0, count))
                    )
        worst, squares, products, ours, count = 0.0, 0.0, 0.0, 0.0, 0
        for a, sa, b, sb, d, rows in parts:
            k, n = a.shape[-1], b.shape[0]
            full_a = (
                a.view(torch.uint8)[rows].view(torch.float8_e4m3fn).float()
                * sa[rows].repeat_interleave(BLOCK, 1)[:, :k]
            )
            full_b = b.float() * sb.repeat_interleave(BLOCK, 0)[:n].repeat_interleave(BLOCK, 1)[:, :k]
            wanted, got = (full_a @ full_b.T).double(), d[rows].double()
            worst = max(worst, float((wanted - got).abs().max()) if bool(torch.isfinite(got).all()) else math.inf)
            squares += float((wanted * wanted).sum())
            products += float((wanted * got).sum())
            ours += float((got * got).sum())
            count += wanted.numel()
        rms = math.sqrt(squares / count)
        difference = 1 - 2 * products / (squares + ours)
        return {
            "calc_diff": difference,
            "worst_over_rms": worst / rms,
            "checked": count,
            "right": bool(difference < 1e-5 and worst / rms < 0.05),
        }


class LibraryCopy:
    """Operands and result of one product by the library."""

    sizes = None

    def __init__(self, operation, s, generator=None, like=None):
        if like is not None:
            self.a, self.b = like.a.clone(), like.b.clone()
        else:
            self.a, self.b = (
                torch.randn(s[rows], s["K"], device="cuda", generator=generator).bfloat16() for rows in "MN"
            )
        self.d = torch.full((s["M"], s["N"]), float("nan"), device="cuda", dtype=torch.bfloat16)

    def launch(self):
        torch.mm(self.a, self.b.T, out=self.d)

    def check(self):
        """Against float64, all columns of up to 256 rows."""
        rows = torch.randint(len(self.a), (256,), device="cuda")
        wanted, got = self.a[rows].double() @ self.b.double().T, self.d[rows].double()
        rms = float((wanted * wanted).mean().sqrt())
        worst = float((wanted - got).abs().max()) if bool(torch.isfinite(got).all()) else math.inf
        difference = float(1 - 2 * (wanted * got).sum() / ((wanted * wanted).sum() + (got * got).sum()))
        return {
            "calc_diff": difference,
            "worst_over_rms": worst / rms,
            "checked": wanted.numel(),
            "right": bool(difference < 1e-5 and worst / rms < 0.05),
        }


def caught(call):
    """What a call prints through C++."""
    sys.stdout.flush()
    with tempfile.TemporaryFile() as file:
        kept = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            call()
            torch.cuda.synchronize()
            import ctypes

            ctypes.CDLL(None).fflush(None)
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        return file.read().decode(errors="replace").strip()


if arguments.build is not None:
    Copy(*PROBLEMS[arguments.build], generator=torch.Generator("cuda"), fake=True).launch()
    torch.cuda.synchronize()
    sys.exit()


class Nvml:
    """Clock, power and reasons of throttling of the GPU that torch uses; without NVML's Python package only torch's clock."""

    def __init__(self):
        self.handle = None
        try:
            import pynvml

            pynvml.nvmlInit()
            uuid = str(torch.cuda.get_device_properties(arguments.device).uuid)
            self.handle, self.nvml = (
                pynvml.nvmlDeviceGetHandleByUUID(uuid if uuid.startswith("GPU-") else "GPU-" + uuid),
                pynvml,
            )
        except Exception as failure:
            print("no NVML:", failure)

    def read(self):
        if self.handle is None:
            try:
                return {"sm_mhz": torch.cuda.clock_rate(arguments.device)}
            except Exception:
                return {"sm_mhz": None}
        out = {"sm_mhz": self.nvml.nvmlDeviceGetClockInfo(self.handle, self.nvml.NVML_CLOCK_SM)}
        for name, call in (
            ("power_w", lambda: self.nvml.nvmlDeviceGetPowerUsage(self.handle) / 1e3),
            ("temperature_c", lambda: self.nvml.nvmlDeviceGetTemperature(self.handle, self.nvml.NVML_TEMPERATURE_GPU)),
            ("reasons", lambda: self.nvml.nvmlDeviceGetCurrentClocksThrottleReasons(self.handle)),
        ):
            try:
                out[name] = call()
            except Exception:
                out[name] = None
        return out


nvml = Nvml()


def measure(name):
    operation, s = PROBLEMS[name]
    generator = torch.Generator("cuda")
    generator.manual_seed(arguments.seed)
    torch.manual_seed(arguments.seed)
    bytes_, flops = bytes_and_flops(operation, s)
    l2 = torch.cuda.get_device_properties(arguments.device).L2_cache_size
    kind = LibraryCopy if operation == "gemm" else Copy
    first = kind(operation, s, generator)
    copies = [first] + [kind(operation, s, like=first) for _ in range(max(2, ceil_div(4 * l2, bytes_)) - 1)]
    configuration = caught(first.launch)
    check = first.check()
    for copy in copies:
        copy.launch()
    torch.cuda.synchronize()

    def event():
        out = torch.cuda.Event(enable_timing=True)
        out.record()
        return out

    def graph_of(rounds):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(rounds):
                for copy in copies:
                    copy.launch()
        return graph, rounds * len(copies)

    graph, launches = graph_of(1)
    graph.replay()
    torch.cuda.synchronize()
    before = event()
    for _ in range(3):
        graph.replay()
    after = event()
    after.synchronize()
    once = before.elapsed_time(after) / 3e3
    graph, launches = graph_of(max(1, round(3.5e-3 / once)))
    before = event()
    for _ in range(3):
        graph.replay()
    after = event()
    after.synchronize()
    replay_s = short_s = before.elapsed_time(after) / 3e3

    trace, over = [], threading.Event()

    def poll():
        while not over.is_set():
            trace.append((time.time(), nvml.read()))
            over.wait(0.01)

    poller = threading.Thread(target=poll, daemon=True)
    poller.start()

    def replay_for(seconds):
        count = max(1, math.ceil(seconds / replay_s))
        for _ in range(count):
            graph.replay()
        return count

    # The spin, in pieces of 0.25 s that keep one ahead, so that the last tells the length of a settled replay.
    end_of_spin, marks, spun = time.time() + arguments.spin, [event()], []
    while True:
        spun.append(replay_for(0.25))
        marks.append(event())
        if len(marks) > 2:
            marks[-2].synchronize()
            replay_s = marks[-3].elapsed_time(marks[-2]) / 1e3 / spun[-2]
            if time.time() >= end_of_spin:
                break
    samples = []
    replay_for(arguments.lead_in)
    for index in range(arguments.samples):
        start = event()
        count = replay_for(arguments.seconds)
        end = event()
        replay_for(
            arguments.lead_in if index + 1 < arguments.samples else 0.15
        )  # the next lead-in runs while the clock is read
        end.synchronize()
        at = time.time()
        reading = nvml.read()
        took = start.elapsed_time(end) / 1e3
        replay_s = took / count
        samples.append(
            {"us": took / count / launches * 1e6, "launches": count * launches, "took_s": took, "at": at, **reading}
        )
    over.set()
    poller.join()
    torch.cuda.synchronize()
    for sample in samples:  # what NVML said during the sample
        inside = [r for t, r in trace if sample["at"] - sample["took_s"] <= t <= sample["at"]]
        for key in ("sm_mhz", "power_w"):
            values = [r[key] for r in inside if r.get(key) is not None]
            sample["mean_" + key] = sum(values) / len(values) if values else None
    after_check = copies[-1].check()
    us = sorted(x["us"] for x in samples)
    middle = us[len(us) // 2] if len(us) % 2 else (us[len(us) // 2 - 1] + us[len(us) // 2]) / 2
    return {
        "name": name,
        "operation": operation,
        "sizes": ",".join(f"{key}={value}" for key, value in s.items()),
        "us": middle,
        "us_short": short_s / launches * 1e6,
        "us_samples": [x["us"] for x in samples],
        "sm_mhz": [x["sm_mhz"] for x in samples],
        "mean_sm_mhz": [x["mean_sm_mhz"] for x in samples],
        "mean_power_w": [x["mean_power_w"] for x in samples],
        "samples": samples,
        "copies": len(copies),
        "launches_of_a_graph": launches,
        "bytes": bytes_,
        "tflops": flops / middle / 1e6,
        "gbps": bytes_ / middle / 1e3,
        "rows": first.sizes,
        **check,
        "right_after": after_check["right"],
        "calc_diff_after": after_check["calc_diff"],
        "configuration": configuration,
    }


document = {
    "version": None if arguments.library else deep_gemm.__version__,
    "device": torch.cuda.get_device_name(arguments.device),
    "torch": torch.__version__,
    "l2_bytes": torch.cuda.get_device_properties(arguments.device).L2_cache_size,
    "pdl": None if arguments.library else deep_gemm.get_pdl(),
    "spin_s": arguments.spin,
    "lead_in_s": arguments.lead_in,
    "seconds": arguments.seconds,
    "results": [],
}
for name in chosen:
    begin = time.time()
    try:
        result = measure(name)
        result["took_s"] = time.time() - begin
        print(
            f"{name}: {result['us']:.2f} us ({', '.join(f'{x:.2f}' for x in result['us_samples'])}; short {result['us_short']:.2f}), {result['tflops']:.0f} TFLOP/s, SM {result['sm_mhz']} MHz, "
            f"power {[x and round(x) for x in result['mean_power_w']]} W, right {result['right']} and {result['right_after']} ({result['calc_diff']:.1e}, worst {result['worst_over_rms']:.3f}), {time.time() - begin:.1f} s",
            flush=True,
        )
    except Exception as failure:
        import traceback

        traceback.print_exc()
        result = {"name": name, "error": repr(failure)}
        print(f"{name}: {failure!r}", flush=True)
    document["results"].append(result)
    with open(arguments.out, "w") as file:
        json.dump(document, file, indent=1)
    torch.cuda.empty_cache()
bad = [r["name"] for r in document["results"] if r.get("error") or not r.get("right") or not r.get("right_after")]
if bad:
    print("wrong or failed:", *bad)
sys.exit(1 if bad else 0)
