# SPDX-License-Identifier: MIT
"""Exported kernels as a PyTorch operator: torch.ops.best_gemm.matmul(a, b).

    pgtune export header --library best_gemm
    c++ -std=c++17 -O2 -fPIC -shared -Ibest_gemm/include -I/usr/local/cuda/include best_gemm/src/*.cpp -o libbest_gemm.so -ldl

    import best_gemm_torch
    best_gemm_torch.load("libbest_gemm.so")                  # once, before graphs are captured
    d = torch.ops.best_gemm.matmul(a, b)                     # or torch.matmul's own result, where no kernel serves

The operator takes two matrices on one GPU, each with rows or columns side by side in memory, so that `weight.t()` costs
nothing. D and workspace come from torch's allocator and the kernel runs in the current stream; it has a Meta function,
so torch.compile and export see through it, and a derivative. What no kernel serves (another dtype, shape, stride or GPU)
is torch.matmul's.
"""
import ctypes
from typing import NamedTuple, Optional

import torch


class _Problem(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("layout", ctypes.c_int32)] + \
        [(name, ctypes.c_int64) for name in ("m", "n", "k", "batch", "lda", "ldb", "ldc", "stride_a", "stride_b", "stride_c")] + \
        [("out", ctypes.c_int32), ("bias", ctypes.c_int32), ("activation", ctypes.c_int32)]


class _Operands(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("a", "b", "c", "bias", "d")] + \
        [("alpha", ctypes.c_float), ("beta", ctypes.c_float)]


class _Entry(ctypes.Structure):
    _fields_ = [("problem", _Problem), ("adds_c", ctypes.c_int32), ("variant", ctypes.c_int32), ("device_class", ctypes.c_int32)] + \
        [(name, ctypes.c_double) for name in ("time_s", "tflops", "ratio", "ratio_low", "ratio_high",
                                            "guessed_loss")]


# The enumerators of best_gemm.h.
_OK = 0
_TYPES = {torch.bfloat16: 4, torch.float16: 3, torch.float32: 0}
_TF32 = 1
_LAYOUTS = {"nn": 0, "nt": 1, "tn": 2, "tt": 3}
_GEMM_BYTES = 1 << 14  # more than a best_gemm_gemm has

_library: Optional[ctypes.CDLL] = None
_prepared: dict = {}
_selected: dict = {}


def load(path: str) -> None:
    """Opens the library and loads its kernels into every GPU of the process. Raises OSError where there is none."""
    global _library
    library = ctypes.CDLL(path)
    library.best_gemm_text.restype = ctypes.c_char_p
    library.best_gemm_workspace_bytes.restype = ctypes.c_size_t
    library.best_gemm_run.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Operands), ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    _library = library
    _selected.clear()
    _prepared.clear()
    for device in range(torch.cuda.device_count()):
        with torch.cuda.device(device):
            torch.cuda.current_stream().synchronize()  # torch's context is there and current
            _prepared[device] = library.best_gemm_prepare(device) == _OK


def tuned() -> list:
    """(M, N, K, dtype, layout) of the tuned problems that the operator can meet."""
    dtypes = {number: dtype for dtype, number in _TYPES.items()}
    layouts = {number: name for name, number in _LAYOUTS.items()}
    out = []
    for number in range(_library.best_gemm_entry_count()):
        entry = _Entry()
        _library.best_gemm_get_entry(number, ctypes.byref(entry))
        p = entry.problem
        if p.batch == 1 and p.type in dtypes and not (entry.adds_c or p.bias or p.activation):
            out.append((p.m, p.n, p.k, dtypes[p.type], layouts[p.layout]))
    return out


def serves(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether a kernel computes this product, and not torch.matmul."""
    return _kernel_for(a, b) is not None


class _Kernel(NamedTuple):
    gemm: ctypes.Array
    workspace_bytes: int


def _stored(matrix: torch.Tensor):
    """n and the leading dimension of rows side by side in memory, t of columns; nothing of other strides."""
    rows, columns = matrix.shape
    if matrix.stride(1) == 1 and matrix.stride(0) >= columns:
        return "n", matrix.stride(0)
    if matrix.stride(0) == 1 and matrix.stride(1) >= rows:
        return "t", matrix.stride(1)
    return None


def _check(a: torch.Tensor, b: torch.Tensor) -> None:
    torch._check(a.dim() == 2 and b.dim() == 2, lambda: f"best_gemm.matmul takes matrices, not {a.dim()}-D and {b.dim()}-D tensors")
    torch._check(a.shape[1] == b.shape[0], lambda: f"best_gemm.matmul: {tuple(a.shape)} by {tuple(b.shape)} is no product")
    torch._check(a.dtype == b.dtype and a.device == b.device, lambda: "best_gemm.matmul: dtypes or devices differ")


def _select(a: torch.Tensor, b: torch.Tensor, tf32: bool) -> Optional[_Kernel]:
    if _library is None or not _prepared.get(a.device.index) or a.dtype not in _TYPES or a.numel() == 0 or b.numel() == 0:
        return None
    a_stored, b_stored = _stored(a), _stored(b)
    if a_stored is None or b_stored is None:
        return None
    problem = _Problem(type=_TF32 if tf32 else _TYPES[a.dtype], layout=_LAYOUTS[a_stored[0] + b_stored[0]], m=a.shape[0],
                       n=b.shape[1], k=a.shape[1], lda=a_stored[1], ldb=b_stored[1])
    # D comes from torch's allocator, which aligns to 512 bytes.
    operands = _Operands(a=a.data_ptr(), b=b.data_ptr(), d=None, alpha=1, beta=0)
    gemm = ctypes.create_string_buffer(_GEMM_BYTES)
    status = _library.best_gemm_select(ctypes.byref(problem), ctypes.byref(operands), a.device.index, None, gemm)
    return _Kernel(gemm, _library.best_gemm_workspace_bytes(gemm)) if status == _OK else None


_unseen = object()


def _kernel_for(a: torch.Tensor, b: torch.Tensor) -> Optional[_Kernel]:
    """Looked up by all that a choice depends on: a call that was seen before costs the look-up alone."""
    tf32 = a.dtype is torch.float32 and torch.backends.cuda.matmul.allow_tf32
    key = (a.dtype, b.dtype, a.shape, b.shape, a.stride(), b.stride(), a.get_device(), b.get_device(),
           a.data_ptr() & 255, b.data_ptr() & 255, tf32)
    kernel = _selected.get(key, _unseen)
    if kernel is _unseen:
        _check(a, b)
        kernel = _selected[key] = _select(a, b, tf32)
    return kernel


def _matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    kernel = _kernel_for(a, b)
    if kernel is None:
        return torch.matmul(a, b)
    d = a.new_empty((a.shape[0], b.shape[1]))
    workspace, bytes_ = None, kernel.workspace_bytes
    if bytes_ > 0:
        # Freed at the return, and given to nobody else before this stream is through with it: torch's allocator sees to that.
        memory = torch.empty(bytes_, dtype=torch.uint8, device=a.device)
        workspace = memory.data_ptr()
    operands = _Operands(a.data_ptr(), b.data_ptr(), None, None, d.data_ptr(), 1, 0)
    stream = torch.cuda.current_stream(a.device).cuda_stream
    status = _library.best_gemm_run(kernel.gemm, operands, workspace, bytes_, stream)
    if status != _OK:
        raise RuntimeError(f"best_gemm: {_library.best_gemm_text(status).decode()} ({_library.best_gemm_last_cuda_error()})")
    return d


def _meta(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    _check(a, b)
    return a.new_empty((a.shape[0], b.shape[1]))


def _backward(ctx, gradient):
    a, b = ctx.saved_tensors
    return torch.ops.best_gemm.matmul(gradient, b.t()), torch.ops.best_gemm.matmul(a.t(), gradient)


def _keep(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


torch.library.define("best_gemm::matmul", "(Tensor a, Tensor b) -> Tensor")
torch.library.impl("best_gemm::matmul", "CUDA", _matmul)
torch.library.impl("best_gemm::matmul", "CPU", lambda a, b: (_check(a, b), torch.matmul(a, b))[1])
torch.library.register_fake("best_gemm::matmul", _meta)
torch.library.register_autograd("best_gemm::matmul", _backward, setup_context=_keep)
