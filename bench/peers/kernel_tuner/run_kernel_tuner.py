#!/usr/bin/env python3
"""One run of Kernel Tuner's random_sample on pgtune's sgemm_simt: run_kernel_tuner.py SEED SECONDS OUT.json DEVICE

Clock: wall time since the call of tune_kernel. What came before (imports, operands, the answer, the first use of the
GPU's context) is 'before_s' and not counted.
Kernel Tuner's own time_limit ends it, which counts its building of the space, too.
"""

import json
import os
import sys
import tempfile
import time

process_start = time.time()
seed, seconds, out_path, device = int(sys.argv[1]), float(sys.argv[2]), os.path.abspath(sys.argv[3]), int(sys.argv[4])
root = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
shape = tuple(int(word) for word in os.environ.get("KT_SHAPE", "3072x2048x1536").split("x"))
cold = tempfile.mkdtemp(
    prefix="kt-cold-"
)  # also the working folder: Kernel Tuner puts sources of failed variants there
os.environ["CUPY_CACHE_DIR"] = os.path.join(cold, "cupy")
os.environ["CUDA_CACHE_PATH"] = os.path.join(cold, "cuda")  # driver's, and NVRTC's own (since 12.9)
os.environ["XDG_CACHE_HOME"] = os.path.join(cold, "xdg")
os.chdir(cold)

import datetime
import random
import shutil

import numpy as np

from bests import bests
from template_space import Template

template = Template(os.path.join(root, "configs", "sgemm_simt.json"), *shape)
m, n, k = shape
if os.environ.get("KT_DRY"):  # no GPU: only the space
    import kernel_tuner.searchspace as ss
else:
    import cupy

    cupy.cuda.Device(device).use()
    cupy.zeros(1)  # the context
import kernel_tuner
from kernel_tuner.backends.cupy import CupyFunctions


# A template with more than 48 KB of dynamic shared memory needs an opt-in that Kernel Tuner 1.5.0's CuPy backend does
# not make.
def copy_shared_memory_args(self, smem_args, original=CupyFunctions.copy_shared_memory_args):
    original(self, smem_args)
    if self.smem_size > 48 * 1024:
        self.func.max_dynamic_shared_size_bytes = self.smem_size


CupyFunctions.copy_shared_memory_args = copy_shared_memory_args

# Kept beside Kernel Tuner's own results, for a run that an error ends.
seen = []
from kernel_tuner.core import DeviceInterface


def compile_and_benchmark(
    self, kernel_source, gpu_args, params, kernel_options, to, original=DeviceInterface.compile_and_benchmark
):
    result = original(self, kernel_source, gpu_args, params, kernel_options, to)
    seen.append(
        (
            time.time(),
            dict(params),
            {name: result.get(name) for name in ("time", "compile_time", "verification_time", "benchmark_time")},
            str(result.get("__error__", "")),
        )
    )
    return result


DeviceInterface.compile_and_benchmark = compile_and_benchmark

# THREADS is derived in the template, and is Kernel Tuner's block size here: one more parameter, fixed by the others.
tune_params = {**template.tune_params, "THREADS": [64, 128, 256]}
threads = template.derived["THREADS"]
restrictions = template.restrictions() + [f"THREADS == {threads} and True"]

if os.environ.get("KT_DRY"):
    begin = time.time()
    space = ss.Searchspace(tune_params, restrictions, 1024)
    json.dump(
        {"space_s": time.time() - begin, "keys": [template.key(dict(zip(tune_params, v))) for v in space.list]},
        open(out_path, "w"),
    )
    sys.exit()

rng = np.random.default_rng(20231107)
a = rng.uniform(-1, 1, (m, k)).astype(np.float32)
b = rng.uniform(-1, 1, (k, n)).astype(np.float32)
c = np.zeros((m, n), np.float32)
d = np.zeros((m, n), np.float32)
answer = [None] * 15
answer[3] = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
facts = template.facts
arguments = [
    a,
    b,
    c,
    d,
    np.int32(m),
    np.int32(n),
    np.int32(k),
    np.int64(facts["LDA"]),
    np.int64(facts["LDB"]),
    np.int64(facts["LDC"]),
    np.int64(facts["STRIDE_A"]),
    np.int64(facts["STRIDE_B"]),
    np.int64(facts["STRIDE_C"]),
    np.float32(1),
    np.float32(0),
]

with open(os.path.join(root, "templates", "sgemm_simt.cu")) as file:
    source = file.read()

np.random.seed(seed)
random.seed(seed)
start = time.time()
error, results = None, []
try:
    results, _ = kernel_tuner.tune_kernel(
        template.symbol,
        source,
        lambda p: tuple(template.value(code, p) for code in template.grid),
        arguments,
        tune_params,
        grid_div_x=[],
        grid_div_y=[],
        grid_div_z=[],
        restrictions=restrictions,
        answer=answer,
        atol=1e-3,
        lang="CUPY",
        device=device,
        smem_args={"size": lambda p: template.value(template.smem, p)},
        compiler_options=["-std=c++17", "-I" + os.path.join(root, "templates")],
        defines=template.defines(),
        block_size_names=["THREADS"],
        quiet=True,
        strategy="random_sample",
        strategy_options={"fraction": 1.0, "time_limit": seconds},
        seed=seed,
    )
except Exception as failure:
    error = repr(failure)
end = time.time()

rows = []  # seconds since the call, seconds a launch or null, key, ms of compiling, verifying, benchmarking
if results:
    for result in results:
        at = datetime.datetime.fromisoformat(result["timestamp"]).timestamp()
        good = "__error__" not in result and isinstance(result.get("time"), (int, float))
        rows.append(
            [
                at - start,
                result["time"] / 1e3 if good else None,
                template.key(result),
                result.get("compile_time"),
                result.get("verification_time"),
                result.get("benchmark_time"),
            ]
        )
else:
    for at, params, result, failed in seen:
        good = not failed and isinstance(result["time"], (int, float))
        rows.append(
            [
                at - start,
                float(result["time"]) / 1e3 if good else None,
                template.key(params),
                result["compile_time"],
                result["verification_time"],
                result["benchmark_time"],
            ]
        )

at_times = bests(rows, seconds)
document = {
    "tool": "Kernel Tuner",
    "version": kernel_tuner.__version__ if hasattr(kernel_tuner, "__version__") else "1.5.0",
    "cupy": cupy.__version__,
    "numpy": np.__version__,
    "device": device,
    "cores": len(os.sched_getaffinity(0)),
    "strategy": "random_sample",
    "seed": seed,
    "shape": "x".join(map(str, shape)),
    "seconds": seconds,
    "error": error,
    "before_s": start - process_start,
    "took_s": end - start,
    "spent_ms": {
        name: sum(float(row[i] or 0) for row in rows) for name, i in (("compile", 3), ("verify", 4), ("benchmark", 5))
    },
    "at": at_times,
    "rows": [[float(x) if isinstance(x, (int, float, np.floating)) else x for x in row] for row in rows],
}
with open(out_path, "w") as file:
    json.dump(document, file)
shutil.rmtree(cold, ignore_errors=True)
print(
    "Kernel Tuner seed",
    seed,
    error or "",
    [(e["seconds"], e["tried"], e["own_time_s"] and round(e["own_time_s"] * 1e6, 2)) for e in at_times],
    f"before {start - process_start:.1f} s, took {end - start:.1f} s",
)
sys.exit(1 if error else 0)
