// A block a row, in float64. R holds what it held before the launch; what it holds afterwards goes to `sum`. Scales are
// what is rounded on the way: of R its two operands, of Y what that is once it is normalised, and the sum of squares.
#include "operation.cuh"

extern "C" __global__ void add_rmsnorm_reference(const void* x, const void* w, const void* r, double* sum,
                                                 float* sum_scale, double* y, float* y_scale, i64 rows, i64 columns,
                                                 float eps) {
  __shared__ double squares;
  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
    const i64 first = row * columns;
    if (threadIdx.x == 0) {
      squares = 0;
      for (i64 j = first; j < first + columns; ++j) {
        const double value = load_element(x, j, TYPE_X) + load_element(r, j, TYPE_R);
        squares += value * value;
      }
    }
    __syncthreads();
    const double factor = 1 / sqrt(squares / static_cast<double>(columns) + eps);
    const double of_squares = sqrt(static_cast<double>(columns)) / 16;
    for (i64 j = first + threadIdx.x; j < first + columns; j += blockDim.x) {
      const double added = load_element(x, j, TYPE_X), before = load_element(r, j, TYPE_R);
      const double weight = load_element(w, j - first, TYPE_W), size = fabs(added) + fabs(before);
      sum[j] = before + added;
      sum_scale[j] = static_cast<float>(size);
      y[j] = (before + added) * factor * weight;
      y_scale[j] = static_cast<float>((size + fabs(before + added) * of_squares) * factor * fabs(weight));
    }
    __syncthreads();
  }
}
