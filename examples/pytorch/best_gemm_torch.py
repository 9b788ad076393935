# SPDX-License-Identifier: MIT
"""Exported kernels in PyTorch, without Python in the call.

    pgtune export header --library best_gemm

    import best_gemm_torch
    best_gemm_torch.load("best_gemm")        # compiles best_gemm_torch.cpp with the package, once
    d = torch.ops.best_gemm.mm(a, b)         # or torch.mm's own result, where no kernel was tuned
    best_gemm_torch.enable()                 # torch.mm, addmm, linear and matmul of matrices, where a kernel is faster than cuBLASLt
    best_gemm_torch.enable(False)            # PyTorch's own again

Kernels run in the current stream, and may be captured. D and workspace come from PyTorch's allocator. The operator has a
derivative and works under torch.compile; what is enabled stands below autograd, autocast and compiled code, which all call
aten::mm and aten::addmm. Kernels are loaded at the first call on a GPU, which takes milliseconds."""
import os

import torch
import torch.utils.cpp_extension


def load(package: str, **options) -> None:
    """Compiles and loads the package of `pgtune export header --library`; `options` are those of cpp_extension.load()."""
    here = os.path.dirname(os.path.abspath(__file__))
    torch.utils.cpp_extension.load(
        "best_gemm_torch", [os.path.join(here, "best_gemm_torch.cpp"), os.path.join(package, "src", "best_gemm.cpp")],
        extra_include_paths=[os.path.join(package, "include")], extra_cflags=["-O2"], with_cuda=True, is_python_module=False, **options)


def enable(on: bool = True) -> None:
    torch.ops.best_gemm.enable(on)


def tuned() -> list:
    """(M, N, K, dtype, layout) of the tuned products of the operator's."""
    dtypes = {0: torch.float32, 3: torch.float16, 4: torch.bfloat16}  # by the numbers of best_gemm::Type
    numbers = torch.ops.best_gemm.tuned()
    rows = [numbers[i:i + 5] for i in range(0, len(numbers), 5)]
    return [(m, n, k, dtypes[dtype], ("nn", "nt", "tn", "tt")[layout]) for m, n, k, dtype, layout in rows if dtype in dtypes]
