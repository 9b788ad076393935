# SPDX-License-Identifier: MIT
"""An operation of an exported package, through its C interface: what operators such as best_softmax_torch.py are made of.

    softmax = Operation("./libbest_softmax.so", "best_softmax", "softmax_bf16")
    softmax.prepare(0)
    call = softmax.select((4096, 8192), (x, y), 0)    # addresses of its buffers; None: no kernel serves this
    softmax.run(call, (x, y), workspace, stream)      # workspace: the address of call.workspace_bytes bytes

Sizes and buffers are in the order of the operation; the package's C header says which."""
import ctypes
from typing import NamedTuple, Optional, Sequence, Tuple

_OK = 0
_CALL_BYTES = 1 << 14  # more than a call of C has


class Call(NamedTuple):
    memory: ctypes.Array
    workspace_bytes: int


class _Tuned(ctypes.Structure):
    _fields_ = [("variant", ctypes.c_int32), ("device_class", ctypes.c_int32)] + \
        [(name, ctypes.c_double) for name in ("time_s", "speed", "ratio", "ratio_low", "ratio_high")]


class Operation:
    def __init__(self, path: str, prefix: str, name: str):
        """Raises OSError where there is no such library, and LookupError where it has no such operation."""
        self._library = ctypes.CDLL(path)
        self._prefix = prefix
        self._function("operation_name").restype = ctypes.c_char_p
        self._function("text").restype = ctypes.c_char_p
        self._function("call_workspace_bytes").restype = ctypes.c_size_t
        self._run = self._function("run_operation")
        self._run.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_size_t, ctypes.c_void_p]
        names = []
        while (known := self._function("operation_name")(len(names))) is not None:
            names.append(known.decode())
        if name not in names:
            raise LookupError(f"{path} has no operation {name}; it has {', '.join(names)}")
        self._number = names.index(name)

    def _function(self, name: str):
        return getattr(self._library, f"{self._prefix}_{name}")

    def prepare(self, device: int) -> bool:
        """Loads the kernels into a device, whose context is there and current; False where it is none of theirs."""
        return self._function("prepare")(device) == _OK

    def tuned(self, dimensions: int) -> Sequence[Tuple[int, ...]]:
        """The sizes it is tuned for."""
        out = []
        for number in range(self._function("tuned_count")(self._number)):
            sizes, tuned = (ctypes.c_int64 * dimensions)(), _Tuned()
            self._function("get_tuned")(self._number, number, sizes, ctypes.byref(tuned))
            out.append(tuple(sizes))
        return out

    def select(self, sizes: Sequence[int], buffers: Sequence[Optional[int]], device: int) -> Optional[Call]:
        memory = ctypes.create_string_buffer(_CALL_BYTES)
        status = self._function("select_operation")(self._number, (ctypes.c_int64 * len(sizes))(*sizes),
                                                    (ctypes.c_void_p * len(buffers))(*buffers), device, None, memory)
        return Call(memory, self._function("call_workspace_bytes")(memory)) if status == _OK else None

    def run(self, call: Call, buffers: Sequence[Optional[int]], workspace: Optional[int], stream: Optional[int]) -> None:
        """With the operation's own scalars. Raises RuntimeError with the reason where nothing was launched."""
        status = self._run(call.memory, (ctypes.c_void_p * len(buffers))(*buffers), None, workspace,
                           call.workspace_bytes, stream)
        if status != _OK:
            raise RuntimeError(f"{self._prefix}: {self._function('text')(status).decode()} "
                               f"({self._function('last_cuda_error')()})")
