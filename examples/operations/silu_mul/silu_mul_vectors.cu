#include "device/ptx/programmatic_dependent_launch.cuh"
#include "device/rows/elements.cuh"

namespace pgtune {

constexpr long long kVectors = COLUMNS / kPerVector;  // of a row of Y

__device__ __forceinline__ float silu_times(float gate, float up) { return gate / (1.0f + expf(-gate)) * up; }

// By a plain load: what the launch before writes while this one has already begun must not come through the cache for
// what nobody writes, as __ldg's does.
__device__ __forceinline__ Vector load_written(const void* array, long long index) {
  Vector vector;
  vector.bits = static_cast<const Bits<VEC_BYTES>::Type*>(array)[index];
  return vector;
}

}  // namespace pgtune

extern "C" __global__ void __launch_bounds__(THREADS) silu_mul_vectors(const void* gu, void* y, long long rows) {
  using namespace pgtune;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  griddepcontrol_launch_dependents();
  griddepcontrol_wait();
#endif
  const long long first = static_cast<long long>(blockIdx.x) * THREADS * VECTORS + threadIdx.x;
  Vector gates[VECTORS], ups[VECTORS];
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) {
    const long long at = first + v * THREADS;
    if (at >= rows * kVectors) continue;
    const long long gate = at / kVectors * 2 * kVectors + at % kVectors;
    gates[v] = load_written(gu, gate);
    ups[v] = load_written(gu, gate + kVectors);
  }
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) {
    const long long at = first + v * THREADS;
    if (at >= rows * kVectors) continue;
    float out[kPerVector];
#pragma unroll
    for (int i = 0; i < kPerVector; ++i) out[i] = silu_times(element_of(gates[v], i), element_of(ups[v], i));
    store_vector<false>(y, at, vector_of(out));
  }
}
