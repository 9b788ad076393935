// SPDX-License-Identifier: MIT
// Copies an operand into lines that TMA can read: along K, each at a multiple of 16 bytes. Its elements may lie
// anywhere; where they lie along M or N they are transposed.
#pragma once

namespace pgtune {

/// Loads the four bytes at `at`, at any address: the seven bytes after `at` must be readable too, or the three after it
/// where kAligned says that `at` is a multiple of 4.
template <bool kAligned>
__device__ __forceinline__ unsigned word_at(const unsigned char* at) {
  if constexpr (kAligned) {
    return *reinterpret_cast<const unsigned*>(at);
  } else {
    const unsigned apart = static_cast<unsigned>(reinterpret_cast<unsigned long long>(at)) % 4;
    const unsigned* const words = reinterpret_cast<const unsigned*>(at - apart);
    return __funnelshift_r(words[0], words[apart == 0 ? 0 : 1], 8 * apart);
  }
}

/// The same where only `left` of the bytes exist, one at least; the others become 0. It reads four bytes whichever
/// exist, so that many such words are in flight at once: a read under a condition waits for the one before it.
__device__ __forceinline__ unsigned last_word_at(const unsigned char* at, long long left) {
  unsigned word = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned byte = at[i < left ? i : 0];
    word |= i < left ? byte << 8 * i : 0;
  }
  return word;
}

/// Transposes a block of kCount words with kCount elements each.
template <int kCount>
__device__ __forceinline__ void transpose_words(unsigned (&words)[kCount]) {
  if constexpr (kCount == 2) {
    const unsigned first = __byte_perm(words[0], words[1], 0x5410);
    words[1] = __byte_perm(words[0], words[1], 0x7632), words[0] = first;
  } else if constexpr (kCount == 4) {
    const unsigned low01 = __byte_perm(words[0], words[1], 0x5140), low23 = __byte_perm(words[2], words[3], 0x5140);
    const unsigned high01 = __byte_perm(words[0], words[1], 0x7362), high23 = __byte_perm(words[2], words[3], 0x7362);
    words[0] = __byte_perm(low01, low23, 0x5410), words[1] = __byte_perm(low01, low23, 0x7632);
    words[2] = __byte_perm(high01, high23, 0x5410), words[3] = __byte_perm(high01, high23, 0x7632);
  }
}

/// Where an operand lies and where it goes; sizes in elements.
struct PreparePlan {
  const unsigned char* in;
  unsigned char* out;       ///< aligned to 4 bytes, as are its lines
  int lines, depth;         ///< its rows or columns, and K
  long long ld_in, ld_out;  ///< from line to line
  bool along_k;             ///< lines of `in` are lines of `out`; otherwise it is transposed
  bool aligned;             ///< lines of `in` start at multiples of 4 bytes
};

/// A tile of kLines lines and kBlockK steps of K (128 bytes), which 256 threads prepare.
template <int kElementBytes>
class PrepareTile {
 public:
  static constexpr int kLines = kElementBytes == 1 ? 128 : 64, kBlockK = 128 / kElementBytes;

  /// Sets out[i][k] = in[i][k], or in[k][i] where the operand does not lie along K.
  static __device__ __forceinline__ void prepare(const PreparePlan& plan, int line, int k) {
    if (plan.along_k) {
      copy(plan, line, k);
    } else {
      transpose(plan, line, k);
    }
  }

 private:
  static constexpr int kThreads = 256, kWords = 32;  ///< of K
  static constexpr bool kAligned = kElementBytes == 4;
  static constexpr int kWhole = kAligned ? 4 : 8;  ///< bytes that must be there for word_at()
  static __device__ __forceinline__ long long bytes(long long elements) { return elements * kElementBytes; }

  static __device__ __forceinline__ void store(const PreparePlan& plan, int line, int k, int word, unsigned value) {
    reinterpret_cast<unsigned*>(plan.out + bytes(line * plan.ld_out + k))[word] = value;
  }

  /// Has words read of which `left` bytes exist, one at least, in the way that suits their addresses. Whether they are
  /// wanted is asked after they are read.
  template <class Read>
  static __device__ __forceinline__ void read_words(const Read& read, long long left, bool aligned) {
    if (left >= 4 && (aligned || kAligned)) {
      read([](const unsigned char* at) { return word_at<true>(at); });
    } else if (left >= kWhole) {
      read([](const unsigned char* at) { return word_at<kAligned>(at); });
    } else {
      read([left](const unsigned char* at) { return last_word_at(at, left); });
    }
  }

  static __device__ __forceinline__ void copy(const PreparePlan& plan, int line, int k) {
    constexpr int kAtOnce = kThreads / kWords, kRounds = kLines / kAtOnce;
    const int word = static_cast<int>(threadIdx.x) % kWords, first = line + static_cast<int>(threadIdx.x) / kWords;
    const long long left = bytes(plan.depth - k) - 4 * word;
    if (left <= 0) return;
    unsigned words[kRounds];  // all reads before the first write, which they might overlap for all the compiler knows
    const auto read = [&](auto word_of) {
#pragma unroll
      for (int r = 0; r < kRounds; ++r) {
        const int from = min(first + r * kAtOnce, plan.lines - 1);
        words[r] = word_of(plan.in + bytes(from * plan.ld_in + k) + 4 * word);
      }
    };
    read_words(read, left, plan.aligned);
#pragma unroll
    for (int r = 0; r < kRounds; ++r) {
      if (first + r * kAtOnce < plan.lines) store(plan, first + r * kAtOnce, k, word, words[r]);
    }
  }

  static __device__ __forceinline__ void transpose(const PreparePlan& plan, int line, int k) {
    constexpr int kBlock = 4 / kElementBytes;  // a thread transposes blocks of as many lines and steps of K
    constexpr int kAcross = kLines / kBlock, kAtOnce = kThreads / kAcross, kRounds = kWords / kAtOnce;
    static_assert(kThreads % kAcross == 0, "a thread's blocks lie below each other");
    __shared__ unsigned tile[kLines][kWords + 1];
    const int thread = static_cast<int>(threadIdx.x), across = thread % kAcross * kBlock;
    const long long left = bytes(plan.lines - line - across);
    unsigned words[kRounds][kBlock];
    const auto read = [&](auto word_of) {
#pragma unroll
      for (int r = 0; r < kRounds; ++r) {
#pragma unroll
        for (int i = 0; i < kBlock; ++i) {
          const int at = k + (thread / kAcross + r * kAtOnce) * kBlock + i;
          const unsigned found = word_of(plan.in + bytes(min(at, plan.depth - 1) * plan.ld_in + line + across));
          words[r][i] = at < plan.depth ? found : 0;
        }
      }
    };
    if (left > 0) {
      read_words(read, left, plan.aligned);
    } else {
      read([](const unsigned char*) { return 0U; });
    }
#pragma unroll
    for (int r = 0; r < kRounds; ++r) {
      transpose_words(words[r]);
#pragma unroll
      for (int i = 0; i < kBlock; ++i) tile[across + i][thread / kAcross + r * kAtOnce] = words[r][i];
    }
    __syncthreads();
    const int word = thread % kWords;
    if (bytes(plan.depth - k) <= 4 * word) return;
#pragma unroll
    for (int at = thread / kWords; at < kLines; at += kThreads / kWords) {
      if (line + at < plan.lines) store(plan, line + at, k, word, tile[at][word]);
    }
  }
};

}  // namespace pgtune
