# SPDX-License-Identifier: MIT
"""examples/pytorch/exported_operation.py over a driver that only records: its folder, then the library."""
import ctypes
import sys

sys.path.insert(0, sys.argv[1])
from exported_operation import Operation  # noqa: E402

driver = ctypes.CDLL("libcuda.so.1")
driver.fake_stream.restype = ctypes.c_void_p
stream = driver.fake_stream(0, False)

try:
    Operation(sys.argv[2], "best", "softmix")
    sys.exit("an operation that is not there was found")
except LookupError as error:
    assert "softmax_bf16" in str(error), error

softmax = Operation(sys.argv[2], "best", "softmax_bf16")
buffers = (0x10000000, 0x20000000)
assert softmax.select((1024, 1024), buffers, 0) is None, "nothing is prepared"
assert softmax.prepare(0) and not softmax.prepare(-1)
assert (1024, 1024) in softmax.tuned(2)
call = softmax.select((1024, 1024), (buffers[0], None), 0)
assert call is not None and call.workspace_bytes == 0
softmax.run(call, buffers, None, stream)
assert softmax.select((1000, 1024), buffers, 0) is None
assert softmax.select((1024, 1024), (buffers[0] + 8, buffers[1]), 0) is None, "misaligned"
try:
    softmax.run(call, (0, buffers[1]), None, stream)
    sys.exit("a null pointer was taken")
except RuntimeError as error:
    assert "null pointer" in str(error), error

reduction = Operation(sys.argv[2], "best", "reduction")
call = reduction.select((1024,), buffers, 0)
assert call is not None and call.workspace_bytes > 0
reduction.run(call, buffers, 0x60000000, stream)
