// The sum over the threads of the block, in thread 0.
__device__ float sum_of_block(float value) {
  __shared__ float of_warp[32];
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  if (threadIdx.x == 0) {
    for (int i = 0; i < THREADS / 32; ++i) sum += of_warp[i];
  }
  return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS) partial_sums(const float* x, float* partial, long long count) {
  const long long vectors = count / 4, step = static_cast<long long>(gridDim.x) * THREADS;
  const float4* const four = reinterpret_cast<const float4*>(x);
  float sum = 0;
  for (long long first = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x; first < vectors;
       first += VECTORS * step) {
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
      const long long at = first + i * step;
      if (at >= vectors) continue;
      const float4 value = four[at];
      sum += (value.x + value.y) + (value.z + value.w);
    }
  }
  // The last ones, which are no vector.
  if (blockIdx.x == 0 && threadIdx.x < count % 4) sum += x[4 * vectors + threadIdx.x];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(THREADS) sum_of_partial_sums(const float* partial, float* y, int count) {
  float sum = 0;
  for (int i = threadIdx.x; i < count; i += THREADS) sum += partial[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) y[0] = sum;
}
