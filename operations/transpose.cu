// SPDX-License-Identifier: MIT
#include "operation.cuh"

extern "C" __global__ void transpose(const void* x, double* y, i64 rows, i64 columns) {
  for (i64 at = global_thread(); at < rows * columns; at += thread_count()) {
    const i64 i = at / columns, j = at % columns;
    y[j * rows + i] = load_element(x, at, TYPE_X);
  }
}
