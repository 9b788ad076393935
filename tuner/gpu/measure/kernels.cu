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

// The pattern lies at multiples of four bytes, wherever a span of it begins or ends.
__device__ inline unsigned char pattern_byte(const unsigned char* at, u32 pattern) {
  return static_cast<unsigned char>(pattern >> 8 * (reinterpret_cast<u64>(at) & 3));
}

extern "C" __global__ void fill_pattern(unsigned char* first, i64 bytes, u32 pattern) {
  const i64 to_word = static_cast<i64>(-reinterpret_cast<u64>(first) & 3), head = to_word < bytes ? to_word : bytes;
  const i64 words = (bytes - head) / 4;
  u32* const aligned = reinterpret_cast<u32*>(first + head);
#pragma unroll 1
  for (i64 i = global_thread(); i < words; i += thread_count()) aligned[i] = pattern;
  if (global_thread() != 0) return;
  for (i64 i = 0; i < head; ++i) first[i] = pattern_byte(first + i, pattern);
  for (i64 i = head + 4 * words; i < bytes; ++i) first[i] = pattern_byte(first + i, pattern);
}

// Numbered as pgtune::ElementType.
enum Type { kFloat32, kFloat16, kBfloat16, kE4m3, kE5m2, kInt8, kInt32 };

__device__ inline float half_to_float(u32 bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(static_cast<unsigned short>(bits)));
  return value;
}

__device__ inline u32 float_to_half(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

// To the nearest of a type with so many stored mantissa bits; below its least exponent the spacing stays the same.
__device__ inline float rounded(float value, int mantissa_bits, int least_exponent) {
  const int exponent = max(static_cast<int>(__float_as_uint(value) >> 23 & 0xff) - 127, least_exponent);
  const float step = __int_as_float(exponent - mantissa_bits + 127 << 23);
  return rintf(value / step) * step;
}

// e5m2 is the upper byte of a float16. e4m3 is laid out as a float16 without its first exponent bit and its last seven
// mantissa bits, so it reads as one 2^8 times too small: the biases are 7 and 15. Numbers only; nothing here is NaN.
constexpr float kE4m3AsHalf = 0x1p-8f;

// Float64 holds the numbers of every type, those of int32 too.
__device__ inline double load_element(const void* matrix, i64 index, int type) {
  switch (type) {
    case kFloat16:
      return half_to_float(static_cast<const unsigned short*>(matrix)[index]);
    case kBfloat16:
      return __uint_as_float(static_cast<u32>(static_cast<const unsigned short*>(matrix)[index]) << 16);
    case kE4m3: {
      const u32 byte = static_cast<const unsigned char*>(matrix)[index];
      return half_to_float((byte & 0x80) << 8 | (byte & 0x7f) << 7) / kE4m3AsHalf;
    }
    case kE5m2:
      return half_to_float(static_cast<u32>(static_cast<const unsigned char*>(matrix)[index]) << 8);
    case kInt8:
      return static_cast<const signed char*>(matrix)[index];
    case kInt32:
      return static_cast<const int*>(matrix)[index];
    default:
      return static_cast<const float*>(matrix)[index];
  }
}

// Rounds to nearest even; integers are whole numbers of their range already.
__device__ inline void store_element(void* matrix, i64 index, int type, float value) {
  switch (type) {
    case kFloat16:
      static_cast<unsigned short*>(matrix)[index] = static_cast<unsigned short>(float_to_half(value));
      break;
    case kBfloat16: {
      const u32 bits = __float_as_uint(value);
      static_cast<unsigned short*>(matrix)[index] = static_cast<unsigned short>(bits + 0x7fff + (bits >> 16 & 1) >> 16);
      break;
    }
    case kE4m3: {
      const u32 bits = float_to_half(rounded(value, 3, -6) * kE4m3AsHalf);
      static_cast<unsigned char*>(matrix)[index] = static_cast<unsigned char>(bits >> 8 & 0x80 | bits >> 7 & 0x7f);
      break;
    }
    case kE5m2:
      static_cast<unsigned char*>(matrix)[index] =
          static_cast<unsigned char>(float_to_half(rounded(value, 2, -14)) >> 8);
      break;
    case kInt8:
      static_cast<signed char*>(matrix)[index] = static_cast<signed char>(value);
      break;
    case kInt32:
      static_cast<int*>(matrix)[index] = static_cast<int>(value);
      break;
    default:
      static_cast<float*>(matrix)[index] = value;
  }
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

// The same data in an integer type, on -range ... range - 1: uniform data fill it, normal data have a quarter of it as
// their deviation and are cut off at its ends, and integers stay what they are.
__device__ inline float whole_number(float value, int distribution, float range) {
  if (distribution == kUniform) return floorf(value * range);
  if (distribution == kNormal) return fminf(fmaxf(rintf(value * range / 4), -range), range - 1);
  return value;
}

// pgtune::kInt8Range and kInt32Range.
constexpr float kInt8Range = 128, kInt32Range = 65536;

// Leaves the padding between columns and ld alone.
extern "C" __global__ void fill_data(void* matrix, int type, i64 rows, i64 columns, i64 ld, u64 seed,
                                     int distribution) {
  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
#pragma unroll 1
    for (i64 column = threadIdx.x; column < columns; column += blockDim.x) {
      const u64 counter = static_cast<u64>(row * columns + column);
      const u64 bits = mix(seed + (counter + 1) * 0x9e3779b97f4a7c15ull);
      float value = data_value(bits, distribution);
      if (type == kInt8) value = whole_number(value, distribution, kInt8Range);
      if (type == kInt32) value = whole_number(value, distribution, kInt32Range);
      store_element(matrix, row * ld + column, type, value);
    }
  }
}

// Layout of HelperKernels::ByteMatrix.
struct ByteMatrix {
  unsigned char* elements;
  i64 row, column, batch;  // strides
};

// A matrix of bytes into one stored row by row, through a tile: neighbouring threads touch neighbouring bytes on both
// sides.
extern "C" __global__ void copy_along_k(ByteMatrix from, ByteMatrix to, i64 rows, i64 columns, i64 batches) {
  constexpr int kTile = 32;
  __shared__ unsigned char tile[kTile][kTile + 4];
  const int x = threadIdx.x % kTile, first = threadIdx.x / kTile, step = blockDim.x / kTile;
  const i64 tiles = (columns + kTile - 1) / kTile;
  const i64 row0 = blockIdx.x / tiles * kTile, column0 = blockIdx.x % tiles * kTile;
  for (i64 batch = blockIdx.y; batch < batches; batch += gridDim.y) {
    for (int y = first; y < kTile; y += step) {
      const int row = from.column == 1 ? y : x, column = from.column == 1 ? x : y;
      if (row0 + row < rows && column0 + column < columns) {
        tile[row][column] =
            from.elements[batch * from.batch + (row0 + row) * from.row + (column0 + column) * from.column];
      }
    }
    __syncthreads();
    for (int y = first; y < kTile; y += step) {
      if (row0 + y < rows && column0 + x < columns) {
        to.elements[batch * to.batch + (row0 + y) * to.row + column0 + x] = tile[y][x];
      }
    }
    __syncthreads();
  }
}

// Order-free checksum: a wrapping sum of mixed (position, word) pairs. `first` is aligned to words; the bytes after the
// last whole word count as one each.
extern "C" __global__ void checksum(const unsigned char* first, i64 bytes, u64* sum) {
  const auto term = [](i64 i, u32 word) {
    return mix((static_cast<u64>(i) << 32 ^ static_cast<u64>(i) >> 32) + word + 0x9e3779b97f4a7c15ull);
  };
  const u32* const words = reinterpret_cast<const u32*>(first);
  const i64 count = bytes / 4, left = bytes - 4 * count;
  u64 local = 0;
#pragma unroll 1
  for (i64 i = global_thread(); i < count; i += thread_count()) local += term(i, words[i]);
  if (global_thread() < left) local += term(count + global_thread(), first[4 * count + global_thread()]);
  for (int offset = 16; offset > 0; offset /= 2) local += __shfl_down_sync(0xffffffffu, local, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, local);
}

// One CTA a guard: counts the bytes that no longer hold the pattern.
struct Guards {
  const unsigned char* first[8];
  i64 bytes[8];
};
extern "C" __global__ void count_changed_bytes(Guards guards, u32 pattern, u64* changed) {
  u64 local = 0;
#pragma unroll 1
  for (i64 i = threadIdx.x; i < guards.bytes[blockIdx.x]; i += blockDim.x) {
    const unsigned char* const at = guards.first[blockIdx.x] + i;
    local += *at != pattern_byte(at, pattern);
  }
  if (local != 0) atomicAdd(changed + blockIdx.x, local);
}

// Numbered as pgtune::Activation.
enum Activation { kNoActivation, kRelu, kGelu, kSilu };

__device__ inline double activated(double x, int activation) {
  switch (activation) {
    case kRelu:
      return x > 0 ? x : 0;
    // With tanh(u) = 2 / (1 + exp(-2 u)) - 1; 0.797... is sqrt(2 / pi).
    case kGelu:
      return x / (1 + exp(-2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case kSilu:
      return x / (1 + exp(-x));
    default:
      return x;
  }
}

struct Shape {
  i64 m, n, k, batch, ldc, stride_c;
  // Element (i, j) of op(A) is a[i * row_a + j * column_a], of op(B) likewise.
  i64 row_a, column_a, stride_a, row_b, column_b, stride_b;
  int type_a, type_b, type_c;
};

// result = activation(x) with x = alpha op(A) op(B) + beta C + bias in float64, and scale = |alpha| |op(A)| |op(B)| +
// |beta C|
// + |bias|, both packed M x N per batch; `bias` is null where there is none. `rounding` times |x - bias| counts as
// scale where there is a bias, and times |x| where there is an activation. 64 x 64 tile, 16 x 16 threads with 4 x 4
// elements each.
extern "C" __global__ void __launch_bounds__(256)
    reference_float64(Shape p, const void* a, const void* b, const void* c, const void* bias, int activation,
                      double rounding, double* result, float* scale, double alpha, double beta) {
  constexpr int kTile = 64, kDepth = 16, kPad = 2;
  __shared__ double tile_a[kDepth][kTile + kPad], tile_b[kDepth][kTile + kPad];
  const int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
  const i64 tiles_n = (p.n + kTile - 1) / kTile;
  const i64 m0 = blockIdx.x / tiles_n * kTile, n0 = blockIdx.x % tiles_n * kTile;
  for (i64 batch = blockIdx.y; batch < p.batch; batch += gridDim.y) {
    const i64 first_a = batch * p.stride_a, first_b = batch * p.stride_b;
    double sum[4][4] = {}, magnitude[4][4] = {};
    for (i64 k0 = 0; k0 < p.k; k0 += kDepth) {
#pragma unroll 1
      for (int i = thread; i < kTile * kDepth; i += 256) {
        // Neighbouring threads take neighbouring addresses in either layout.
        const int am = p.column_a == 1 ? i / kDepth : i % kTile, ak = p.column_a == 1 ? i % kDepth : i / kTile;
        const int bn = p.column_b == 1 ? i % kTile : i / kDepth, bk = p.column_b == 1 ? i / kTile : i % kDepth;
        const bool inside_a = m0 + am < p.m && k0 + ak < p.k, inside_b = n0 + bn < p.n && k0 + bk < p.k;
        const i64 at_a = first_a + (m0 + am) * p.row_a + (k0 + ak) * p.column_a;
        const i64 at_b = first_b + (k0 + bk) * p.row_b + (n0 + bn) * p.column_b;
        tile_a[ak][am] = inside_a ? load_element(a, at_a, p.type_a) : 0;
        tile_b[bk][bn] = inside_b ? load_element(b, at_b, p.type_b) : 0;
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
        const double addend =
            beta == 0 ? 0 : beta * load_element(c, batch * p.stride_c + row * p.ldc + column, p.type_c);
        const double shift = bias == nullptr ? 0 : load_element(bias, column, p.type_c);
        const double unshifted = alpha * sum[i][j] + addend, argument = unshifted + shift;
        const double rounded_before =
            (bias == nullptr ? 0 : fabs(unshifted)) + (activation == kNoActivation ? 0 : fabs(argument));
        const i64 at = (batch * p.m + row) * p.n + column;
        result[at] = activated(argument, activation);
        scale[at] =
            static_cast<float>(fabs(alpha) * magnitude[i][j] + fabs(addend) + fabs(shift) + rounding * rounded_before);
      }
    }
  }
}

struct Comparison {
  u64 wrong;            // elements whose error exceeds their bound, or that are not finite
  u64 first_wrong;      // smallest packed index of these
  u64 max_ratio_bits;   // largest |D - R| / bound; bits of a non-negative double compare like integers
  u64 padding_changed;  // elements between N and the leading dimension that lost the pattern
  double squared_error, squared_reference;
};

__device__ inline double warp_sum(double value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

// Layout of pgtune::gpu::ErrorBound.
struct Bound {
  double per_scale, per_result, absolute, largest;
};

// The element still holds the pattern.
__device__ inline bool untouched(const void* matrix, i64 index, int type, u32 pattern) {
  if (type == kFloat32 || type == kInt32) return static_cast<const u32*>(matrix)[index] == pattern;
  return static_cast<const unsigned short*>(matrix)[index] == (pattern & 0xffff);
}

// Compares D with the reference row by row. An element that is not a number counts as an error as large as its
// reference; an infinite one is right where the reference may be beyond the type's largest number.
extern "C" __global__ void compare(const void* d, int type, const double* result, const float* scale, i64 rows,
                                   i64 columns, i64 ld, Bound bound, double not_finite_ratio, u32 pattern,
                                   Comparison* out) {
  double squared_error = 0, squared_reference = 0, max_ratio = 0;
  u64 wrong = 0, first_wrong = ~0ull, padding_changed = 0;
  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
#pragma unroll 1
    for (i64 column = threadIdx.x; column < ld; column += blockDim.x) {
      if (column >= columns) {
        padding_changed += !untouched(d, row * ld + column, type, pattern);
        continue;
      }
      const double value = load_element(d, row * ld + column, type), infinity = __int_as_float(0x7f800000);
      const i64 at = row * columns + column;
      const double expected = result[at], size = fabs(expected);
      const double allowed = bound.per_scale * scale[at] + bound.per_result * size + bound.absolute;
      const bool finite = fabs(value) < infinity;  // false for NaN too
      const bool overflow = fabs(value) == infinity && value > 0 == expected > 0 && size + allowed >= bound.largest;
      const double error = finite ? fabs(value - expected) : overflow ? 0 : size;
      const double ratio = finite || overflow ? error / allowed : not_finite_ratio;
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
