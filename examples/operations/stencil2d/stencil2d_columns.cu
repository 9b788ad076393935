extern "C" __global__ void __launch_bounds__(THREADS)
    stencil2d_columns(const float* x, float* y, int rows, int columns, long long pitch, float center, float side) {
  const int j = blockIdx.x * THREADS + threadIdx.x, first = blockIdx.y * ROWS;
  if (j >= columns) return;
  const auto at = [&](int i, int k) { return i >= 0 && i < rows && k >= 0 && k < columns ? x[i * pitch + k] : 0.0f; };
  float above = at(first - 1, j), here = at(first, j);
#pragma unroll UNROLL
  for (int i = first; i < first + ROWS; ++i) {
    const float below = at(i + 1, j);
    if (i < rows) y[i * pitch + j] = center * here + side * (above + below + at(i, j - 1) + at(i, j + 1));
    above = here;
    here = below;
  }
}
