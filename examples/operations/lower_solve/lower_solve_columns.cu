// A thread reads of X what it has written itself, so CTAs have nothing to wait for.
constexpr bool kReciprocal = DIVISION == LABEL_reciprocal;

extern "C" __global__ void __launch_bounds__(THREADS)
    lower_solve_columns(const float* l, const float* b, float* x, int n, int columns) {
  const long long system = blockIdx.y, first = static_cast<long long>(blockIdx.x) * THREADS * COLUMNS + threadIdx.x;
  l += system * n * n;
  b += system * n * columns;
  x += system * n * columns;
  for (int top = 0; top < n; top += ROWS) {
    float rows[ROWS][COLUMNS];
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        const long long column = first + c * THREADS;
        rows[i][c] = top + i < n && column < columns ? b[static_cast<long long>(top + i) * columns + column] : 0.0f;
      }
    }
    for (int j = 0; j < top; ++j) {
      float above[COLUMNS];
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        const long long column = first + c * THREADS;
        above[c] = column < columns ? x[static_cast<long long>(j) * columns + column] : 0.0f;
      }
#pragma unroll
      for (int i = 0; i < ROWS; ++i) {
        const float factor = top + i < n ? l[static_cast<long long>(top + i) * n + j] : 0.0f;
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) rows[i][c] -= factor * above[c];
      }
    }
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      if (top + i >= n) continue;
      const float* const row = l + static_cast<long long>(top + i) * n + top;
#pragma unroll
      for (int k = 0; k < i; ++k) {
        const float factor = row[k];
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) rows[i][c] -= factor * rows[k][c];
      }
      const float diagonal = row[i];
#pragma unroll
      for (int c = 0; c < COLUMNS; ++c) {
        rows[i][c] = kReciprocal ? rows[i][c] * (1.0f / diagonal) : rows[i][c] / diagonal;
        const long long column = first + c * THREADS;
        if (column < columns) x[static_cast<long long>(top + i) * columns + column] = rows[i][c];
      }
    }
  }
}
