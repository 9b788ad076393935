// A block takes one row of Y after the other and looks for the group that it is of. Rows behind those of all groups are
// 0 with a negative scale: nobody judges them.
#include "operation.cuh"

extern "C" __global__ void pack_rows_reference(const int* rows, const void* x, double* y, float* scale, i64 groups,
                                               i64 capacity, i64 columns) {
  for (i64 row = blockIdx.x; row < groups * capacity; row += gridDim.x) {
    i64 group = 0, first = 0;
    while (group < groups && row >= first + rows[group]) first += rows[group++];
    for (i64 j = threadIdx.x; j < columns; j += blockDim.x) {
      const i64 from = (group * capacity + row - first) * columns + j;
      y[row * columns + j] = group < groups ? load_element(x, from, TYPE_X) : 0;
      scale[row * columns + j] = group < groups ? 1.0f : -1.0f;
    }
  }
}
