# SPDX-License-Identifier: MIT
"""An exported operation as a PyTorch operator: torch.ops.best_softmax.softmax(x), over the last dimension.

    pgtune export header --operation softmax --library best_softmax
    c++ -std=c++17 -O2 -fPIC -shared -Ibest_softmax/include -I/usr/local/cuda/include best_softmax/src/*.cpp -o libbest_softmax.so -ldl

    import best_softmax_torch
    best_softmax_torch.load("./libbest_softmax.so")   # once, before graphs are captured
    y = torch.ops.best_softmax.softmax(x)             # or torch.softmax's own result, where no kernel serves

Y and workspace come from torch's allocator and the kernel runs in the current stream; it has a Meta function, so that
torch.compile and export see through it, and a derivative. `python3 best_softmax_torch.py libbest_softmax.so` compares every
tuned size with torch.softmax."""
import math
import sys
from typing import Optional

import torch

from exported_operation import Call, Operation

_NAMES = {torch.bfloat16: "softmax_bf16", torch.float16: "softmax_f16", torch.float32: "softmax_f32"}
_ALIGNMENT = 256  # of the operation's buffers

_operations: dict = {}
_prepared: dict = {}
_selected: dict = {}


def load(path: str) -> None:
    """Opens the library and loads its kernels into every GPU of the process. Raises OSError where there is none."""
    _operations.clear()
    _prepared.clear()
    _selected.clear()
    for dtype, name in _NAMES.items():
        try:
            _operations[dtype] = Operation(path, "best_softmax", name)
        except LookupError:  # it was not tuned in this dtype
            continue
    for device in range(torch.cuda.device_count()):
        with torch.cuda.device(device):
            torch.cuda.current_stream().synchronize()  # torch's context is there and current
            _prepared[device] = any(operation.prepare(device) for operation in _operations.values())


def tuned() -> list:
    """(dtype, (M, N)) of what it is tuned for."""
    return [(dtype, sizes) for dtype, operation in _operations.items() for sizes in operation.tuned(2)]


def _call_for(x: torch.Tensor) -> Optional[Call]:
    if x.dtype not in _operations or x.dim() == 0 or x.numel() == 0 or not x.is_contiguous() or \
            x.data_ptr() % _ALIGNMENT != 0 or not _prepared.get(x.device.index):
        return None
    key = (x.dtype, x.shape, x.device.index)
    if key not in _selected:
        sizes = (math.prod(x.shape[:-1]), x.shape[-1])
        # Y comes from torch's allocator, which aligns to 512 bytes.
        _selected[key] = _operations[x.dtype].select(sizes, (x.data_ptr(), None), x.device.index)
    return _selected[key]


def serves(x: torch.Tensor) -> bool:
    """Whether a kernel computes this, and not torch.softmax."""
    return x.is_cuda and _call_for(x) is not None


def _softmax(x: torch.Tensor) -> torch.Tensor:
    call = _call_for(x)
    if call is None:
        return torch.softmax(x, -1)
    y = torch.empty_like(x)
    # Freed at the return, and given to nobody else before this stream is through with it: torch's allocator sees to that.
    workspace = torch.empty(call.workspace_bytes, dtype=torch.uint8, device=x.device) if call.workspace_bytes else None
    _operations[x.dtype].run(call, (x.data_ptr(), y.data_ptr()), workspace.data_ptr() if workspace is not None else None,
                             torch.cuda.current_stream(x.device).cuda_stream)
    return y


def _backward(ctx, gradient):
    (y,) = ctx.saved_tensors
    return y * (gradient - (gradient * y).sum(-1, keepdim=True))


def _keep(ctx, inputs, output):
    ctx.save_for_backward(output)


torch.library.define("best_softmax::softmax", "(Tensor x) -> Tensor")
torch.library.impl("best_softmax::softmax", "CUDA", _softmax)
torch.library.impl("best_softmax::softmax", "CPU", lambda x: torch.softmax(x, -1))
torch.library.register_fake("best_softmax::softmax", torch.empty_like)
torch.library.register_autograd("best_softmax::softmax", _backward, setup_context=_keep)


def _check() -> int:
    """How many tuned sizes are wrong: off by more than what rounding to the dtype and float32 sums allow, in a stream or in a graph."""
    wrong = 0
    for dtype, sizes in tuned():
        x = torch.randn(sizes, dtype=dtype, device="cuda")
        right = torch.softmax(x.double(), -1)
        y = torch.ops.best_softmax.softmax(x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            again = torch.ops.best_softmax.softmax(x)
        graph.replay()
        kind = torch.finfo(dtype)
        off = float(((y.double() - right).abs() / (kind.eps * (right + kind.smallest_normal))).max())
        served = serves(x)
        fine = served and off <= (1 if dtype is not torch.float32 else 64) and torch.equal(y, again)
        wrong += 0 if fine else 1
        print(f"{dtype} {sizes}: {'served' if served else 'torch.softmax'}, off by {off:.3f} eps, graph "
              f"{'alike' if torch.equal(y, again) else 'DIFFERS'}")
    odd = torch.randn(3, 5, device="cuda")
    if not torch.equal(torch.ops.best_softmax.softmax(odd), torch.softmax(odd, -1)):
        print("what no kernel serves is not torch.softmax's")
        wrong += 1
    return wrong


if __name__ == "__main__":
    load(sys.argv[1])
    sys.exit(1 if _check() or not tuned() else 0)
