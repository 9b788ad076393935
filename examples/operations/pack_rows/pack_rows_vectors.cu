#include "device/rows/elements.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    pack_rows_vectors(const int* rows, const void* x, void* y, long long capacity) {
  using namespace pgtune;
  constexpr long long kVectors = COLUMNS / kPerVector;
  const long long row = blockIdx.x, group = blockIdx.y;
  if (row >= rows[group]) return;
  long long first = 0;
  for (long long before = 0; before < group; ++before) first += rows[before];
  for (long long at = threadIdx.x; at < kVectors; at += THREADS)
    store_vector<false>(y, (first + row) * kVectors + at,
                        load_vector<false>(x, (group * capacity + row) * kVectors + at));
}
