// In float64, a thread a right-hand side. The solution is one that is right, for the null test; what is judged is the
// residual of each element, B - L X, beside |L| |X|. Whatever order a kernel adds in and however it rounds, X solves a
// system of which each element of L is off by N units of 2^-24 of itself at most (Higham, "Accuracy and stability of
// numerical algorithms", 2002, theorem 8.5), so the residual is N such units of that scale; two more are for a product
// with the diagonal's reciprocal, and for terms of higher order. X itself may be less accurate, as L's condition says.
#include "operation.cuh"

// The diagonal is 1 to 2 and all else up to 2 / N, so that solutions neither grow nor die out.
extern "C" __global__ void lower_solve_fill(void* l, i64 systems, i64 n, u64 seed) {
  for (i64 at = global_thread(); at < systems * n * n; at += thread_count()) {
    const float random = random_uniform(seed, at);
    const bool diagonal = at / n % n == at % n;
    store_element(l, at, TYPE_L, diagonal ? 1.5f + 0.5f * random : 2 * random / static_cast<float>(n));
  }
}

extern "C" __global__ void lower_solve_solution(const void* l, const void* b, double* x, i64 n, i64 columns) {
  const i64 column = global_thread();
  if (column >= columns) return;
  const i64 first = blockIdx.y * n;
  for (i64 i = 0; i < n; ++i) {
    double sum = load_element(b, (first + i) * columns + column, TYPE_B);
    for (i64 j = 0; j < i; ++j) sum -= load_element(l, (first + i) * n + j, TYPE_L) * x[(first + j) * columns + column];
    x[(first + i) * columns + column] = sum / load_element(l, (first + i) * n + i, TYPE_L);
  }
}

extern "C" __global__ void lower_solve_residual(const void* l, const void* b, const void* x, double* residual,
                                                float* scale, i64 n, i64 columns) {
  const i64 column = global_thread();
  if (column >= columns) return;
  const i64 first = blockIdx.y * n;
  for (i64 i = 0; i < n; ++i) {
    double sum = load_element(b, (first + i) * columns + column, TYPE_B), magnitude = 0;
    for (i64 j = 0; j <= i; ++j) {
      const double term =
          load_element(l, (first + i) * n + j, TYPE_L) * load_element(x, (first + j) * columns + column, TYPE_X);
      sum -= term;
      magnitude += fabs(term);
    }
    residual[(first + i) * columns + column] = sum;
    scale[(first + i) * columns + column] = static_cast<float>(magnitude);
  }
}
