// SPDX-License-Identifier: MIT
// pgtune's own kernels around a measurement: data, float64 reference, comparison, guards, checksums, clocks. Compiled
// by NVRTC when the measuring worker starts; includes nothing, so that this takes a fraction of a second.
using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

// Finaliser of splitmix64 (Steele, Lea, Flood 2014): turns a counter into well-mixed bits.
__device__ inline u64 mix(u64 x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

__device__ inline i64 global_thread() { return static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline i64 thread_count() { return static_cast<i64>(gridDim.x) * blockDim.x; }

extern "C" __global__ void fill_words(u32* words, i64 count, u32 pattern) {
#pragma unroll 1
  for (i64 i = global_thread(); i < count; i += thread_count()) words[i] = pattern;
}

// Numbered as pgtune::DataDistribution.
enum Distribution { kUniform, kNormal, kIntegers, kZeros };

__device__ inline float data_value(u64 bits, int distribution) {
  switch (distribution) {
    case kUniform:  // [-1, 1) on a grid of 2^-23
      return static_cast<float>(static_cast<int>(bits >> 40) - (1 << 23)) * 0x1p-23f;
    case kNormal: {  // Box and Muller 1958: the radius from the upper bits, in (0, 1], the angle from the lower
      const float radius = static_cast<float>((bits >> 40) + 1) * 0x1p-24f;
      const float angle = static_cast<float>(bits & 0xffffff) * 0x1p-23f;
      return sqrtf(-2.0f * logf(radius)) * cospif(angle);
    }
    case kIntegers:  // -4 ... 4
      return static_cast<float>(static_cast<int>((bits >> 32) * 9 >> 32) - 4);
    default:
      return 0;
  }
}

// Leaves the padding between columns and ld alone.
extern "C" __global__ void fill_data(float* matrix, i64 rows, i64 columns, i64 ld, u64 seed, int distribution) {
  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
#pragma unroll 1
    for (i64 column = threadIdx.x; column < columns; column += blockDim.x) {
      const u64 counter = static_cast<u64>(row * columns + column);
      const u64 bits = mix(seed + (counter + 1) * 0x9e3779b97f4a7c15ull);
      matrix[row * ld + column] = data_value(bits, distribution);
    }
  }
}

// Order-free checksum: a wrapping sum of mixed (position, word) pairs.
extern "C" __global__ void checksum(const u32* words, i64 count, u64* sum) {
  u64 local = 0;
#pragma unroll 1
  for (i64 i = global_thread(); i < count; i += thread_count()) {
    local += mix((static_cast<u64>(i) << 32 ^ static_cast<u64>(i) >> 32) + words[i] + 0x9e3779b97f4a7c15ull);
  }
  for (int offset = 16; offset > 0; offset /= 2) local += __shfl_down_sync(0xffffffffu, local, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, local);
}

// One CTA a guard: counts the bytes that no longer hold the pattern.
struct Guards {
  const u32* words[8];
  i64 counts[8];
};
extern "C" __global__ void count_changed_bytes(Guards guards, u32 pattern, u64* changed) {
  u64 local = 0;
#pragma unroll 1
  for (i64 i = threadIdx.x; i < guards.counts[blockIdx.x]; i += blockDim.x) {
    const u32 difference = guards.words[blockIdx.x][i] ^ pattern;
    for (int byte = 0; byte < 4; ++byte) local += (difference >> (8 * byte) & 0xff) != 0;
  }
  if (local != 0) atomicAdd(changed + blockIdx.x, local);
}

struct Shape {
  i64 m, n, k, batch, ldc, stride_c;
  // Element (i, j) of op(A) is a[i * row_a + j * column_a], of op(B) likewise.
  i64 row_a, column_a, stride_a, row_b, column_b, stride_b;
};

// result = alpha op(A) op(B) + beta C in float64 and scale = |alpha| |op(A)| |op(B)| + |beta C|, both packed M x N per
// batch. 64 x 64 tile, 16 x 16 threads with 4 x 4 elements each.
extern "C" __global__ void __launch_bounds__(256)
    reference_float64(Shape p, const float* a, const float* b, const float* c, double* result, float* scale,
                      double alpha, double beta) {
  constexpr int kTile = 64, kDepth = 16, kPad = 2;
  __shared__ double tile_a[kDepth][kTile + kPad], tile_b[kDepth][kTile + kPad];
  const int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
  const i64 tiles_n = (p.n + kTile - 1) / kTile;
  const i64 m0 = blockIdx.x / tiles_n * kTile, n0 = blockIdx.x % tiles_n * kTile;
  for (i64 batch = blockIdx.y; batch < p.batch; batch += gridDim.y) {
    const float* const matrix_a = a + batch * p.stride_a;
    const float* const matrix_b = b + batch * p.stride_b;
    double sum[4][4] = {}, magnitude[4][4] = {};
    for (i64 k0 = 0; k0 < p.k; k0 += kDepth) {
#pragma unroll 1
      for (int i = thread; i < kTile * kDepth; i += 256) {
        // Neighbouring threads take neighbouring addresses in either layout.
        const int am = p.column_a == 1 ? i / kDepth : i % kTile, ak = p.column_a == 1 ? i % kDepth : i / kTile;
        const int bn = p.column_b == 1 ? i % kTile : i / kDepth, bk = p.column_b == 1 ? i / kTile : i % kDepth;
        const bool inside_a = m0 + am < p.m && k0 + ak < p.k, inside_b = n0 + bn < p.n && k0 + bk < p.k;
        tile_a[ak][am] = inside_a ? matrix_a[(m0 + am) * p.row_a + (k0 + ak) * p.column_a] : 0.0f;
        tile_b[bk][bn] = inside_b ? matrix_b[(k0 + bk) * p.row_b + (n0 + bn) * p.column_b] : 0.0f;
      }
      __syncthreads();
#pragma unroll 1
      for (int k = 0; k < kDepth; ++k) {
        double left[4], right[4];
        for (int i = 0; i < 4; ++i) left[i] = tile_a[k][ty + 16 * i];
        for (int j = 0; j < 4; ++j) right[j] = tile_b[k][tx + 16 * j];
        for (int i = 0; i < 4; ++i) {
          for (int j = 0; j < 4; ++j) {
            sum[i][j] += left[i] * right[j];
            magnitude[i][j] += fabs(left[i]) * fabs(right[j]);
          }
        }
      }
      __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        const i64 row = m0 + ty + 16 * i, column = n0 + tx + 16 * j;
        if (row >= p.m || column >= p.n) continue;
        const double addend = beta == 0 ? 0 : beta * c[batch * p.stride_c + row * p.ldc + column];
        const i64 at = (batch * p.m + row) * p.n + column;
        result[at] = alpha * sum[i][j] + addend;
        scale[at] = static_cast<float>(fabs(alpha) * magnitude[i][j] + fabs(addend));
      }
    }
  }
}

struct Comparison {
  u64 wrong;            // elements whose error exceeds their bound, or that are not finite
  u64 first_wrong;      // smallest packed index of these
  u64 max_ratio_bits;   // largest |D - R| / bound; bits of a non-negative double compare like integers
  u64 padding_changed;  // words between N and the leading dimension that lost the pattern
  double squared_error, squared_reference;
};

__device__ inline double warp_sum(double value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

// Compares D with the reference row by row. An element that is not a number counts as an error as large as its
// reference.
extern "C" __global__ void compare(const float* d, const double* result, const float* scale, i64 rows, i64 columns,
                                   i64 ld, double relative_bound, double absolute_bound, double not_finite_ratio,
                                   u32 pattern, Comparison* out) {
  double squared_error = 0, squared_reference = 0, max_ratio = 0;
  u64 wrong = 0, first_wrong = ~0ull, padding_changed = 0;
  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
#pragma unroll 1
    for (i64 column = threadIdx.x; column < ld; column += blockDim.x) {
      const float value = d[row * ld + column];
      if (column >= columns) {
        padding_changed += __float_as_uint(value) != pattern;
        continue;
      }
      const i64 at = row * columns + column;
      const double expected = result[at];
      const bool finite = fabsf(value) < __int_as_float(0x7f800000);  // false for NaN too
      const double error = finite ? fabs(value - expected) : fabs(expected);
      const double ratio = finite ? error / (relative_bound * scale[at] + absolute_bound) : not_finite_ratio;
      squared_error += error * error;
      squared_reference += expected * expected;
      max_ratio = max_ratio > ratio ? max_ratio : ratio;
      if (!(ratio <= 1)) {
        ++wrong;
        first_wrong = first_wrong < static_cast<u64>(at) ? first_wrong : static_cast<u64>(at);
      }
    }
  }
  squared_error = warp_sum(squared_error);
  squared_reference = warp_sum(squared_reference);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&out->squared_error, squared_error);
    atomicAdd(&out->squared_reference, squared_reference);
  }
  if (wrong != 0) {
    atomicAdd(&out->wrong, wrong);
    atomicMin(&out->first_wrong, first_wrong);
  }
  if (padding_changed != 0) atomicAdd(&out->padding_changed, padding_changed);
  atomicMax(&out->max_ratio_bits, static_cast<u64>(__double_as_longlong(max_ratio)));
}

// Reads time and clock counter on every SM that gets a CTA; entry [SM] = (nanoseconds, clocks).
extern "C" __global__ void read_clocks(ulonglong2* entries) {
  if (threadIdx.x != 0) return;
  u32 sm;
  u64 time_ns;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time_ns));
  entries[sm] = make_ulonglong2(time_ns, static_cast<u64>(clock64()));
}
