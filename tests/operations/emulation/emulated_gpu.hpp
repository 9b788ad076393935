// SPDX-License-Identifier: MIT
// CUDA C++ on the host, for kernels without PTX: a block's threads are fibres that take turns where they synchronise,
// blocks run one after the other. Slow, and exact about indices, barriers and arithmetic.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

// A stack that another one has left.
#if defined(__x86_64__)
using Context = void*;  // its top, with the registers that calls keep
__attribute__((naked, noinline)) inline void switch_context(Context* /*from*/, Context* /*to*/) {
  __asm__(
      "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
      "mov %rsp, (%rdi)\nmov (%rsi), %rsp\n"
      "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret");
}
inline Context context_of(char* stack, std::size_t bytes, void (*enter)()) {
  auto* const top = reinterpret_cast<void**>((reinterpret_cast<std::uintptr_t>(stack) + bytes) & ~std::uintptr_t{15});
  std::fill(top - 8, top, nullptr);
  top[-2] = reinterpret_cast<void*>(enter);
  return top - 8;
}
#else
using Context = ucontext_t;  // with the signal mask: two system calls a switch
inline void switch_context(Context* from, Context* to) { swapcontext(from, to); }
inline Context context_of(char* stack, std::size_t bytes, void (*enter)()) {
  Context context;
  getcontext(&context);
  context.uc_stack.ss_sp = stack, context.uc_stack.ss_size = bytes, context.uc_link = nullptr;
  makecontext(&context, enter, 0);
  return context;
}
#endif

#define __device__
#define __global__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) alignas(bytes)
// asm("...") is left out, asm volatile("...") an empty instruction: nothing here calls functions with them.
#define asm(...)
#define volatile(...) ("")

struct Index {
  unsigned x = 0, y = 0, z = 0;
};
inline Index threadIdx, blockIdx, blockDim, gridDim;

struct float2 {
  float x, y;
};
struct uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct ulonglong2 {
  unsigned long long x, y;
};

class Block {
 public:
  /// Runs `kernel` in every thread of every block. Those of a cluster, neighbours along x, run at a time.
  static void run(Index grid, Index block, unsigned cluster, const std::function<void()>& kernel) {
    gridDim = grid, blockDim = block;
    Block emulated(kernel, block, cluster);
    for (unsigned z = 0; z < grid.z; ++z)
      for (unsigned y = 0; y < grid.y; ++y)
        for (unsigned x = 0; x < grid.x; x += cluster) emulated.run_cluster({x, y, z});
  }

  /// Waits until all living threads of `first` to `last` wait.
  static void wait(bool whole_block) {
    Fibre& self = *current_->fibres_[current_->running_];
    self.waits = whole_block ? Fibre::kBlock : Fibre::kWarp;
    switch_context(&self.context, &current_->scheduler_);
  }

  /// Waits until this is so.
  static void wait_until(std::function<bool()> so) {
    if (so()) return;
    Fibre& self = *current_->fibres_[current_->running_];
    self.waits = Fibre::kCondition;
    self.condition = std::move(so);
    switch_context(&self.context, &current_->scheduler_);
  }

  /// The running thread's place among those of the cluster, which is a multiple of 32 further on in each block.
  static unsigned thread() { return current_->running_; }
  static unsigned threads() { return static_cast<unsigned>(current_->fibres_.size()); }
  static unsigned rank() { return current_->running_ / current_->of_block_; }
  static std::uint64_t& slot(unsigned thread) { return current_->slots_[thread]; }
  static std::array<unsigned, 16>& words(unsigned thread) { return current_->fibres_[thread]->words; }

  /// What stands for "extern __shared__", that of every block of the cluster behind each other: NaNs until somebody
  /// writes.
  static unsigned char* dynamic_shared() { return current_->dynamic_shared_.data(); }
  static unsigned char* own_shared() { return dynamic_shared() + rank() * kDynamicShared; }
  static constexpr unsigned kDynamicShared = 256 << 10;

  static void arrive_in_cluster() {
    ++self().arrivals;
    ++current_->arrived_;
  }
  static void wait_for_cluster() {
    const std::size_t all = self().arrivals * threads();
    wait_until([=] { return current_->arrived_ >= all; });
  }
  /// The copies of this thread's present group, which take place when the group is waited for.
  static std::vector<std::function<void()>>& copies() { return self().groups.back(); }
  static void commit_copies() { self().groups.emplace_back(); }
  /// Leaves `pending` groups that were committed under way.
  static void wait_for_copies(std::size_t pending) {
    auto& groups = self().groups;
    while (groups.size() > pending + 1) {
      for (const auto& copy : groups.front()) copy();
      groups.erase(groups.begin());
    }
  }

 private:
  struct Fibre {
    enum Waits { kNothing, kCondition, kWarp, kBlock, kNever } waits = kNothing;
    std::function<bool()> condition;
    bool done = false;
    std::size_t arrivals = 0;  ///< at the cluster's barrier
    std::array<unsigned, 16> words{};
    std::vector<std::vector<std::function<void()>>> groups;
    Context context{};
    std::unique_ptr<char[]> stack{new char[kStack]};  // make_unique() would write zeros into all of it
  };
  static constexpr std::size_t kStack = 256 << 10;
  static Fibre& self() { return *current_->fibres_[current_->running_]; }
  static constexpr unsigned kWarp = 32;

  Block(std::function<void()> kernel, Index block, unsigned cluster)
      : kernel_(std::move(kernel)), block_(block), of_block_(block.x * block.y * block.z) {
    if (cluster > 1 && of_block_ % kWarp != 0) std::abort();
    for (unsigned i = 0; i < of_block_ * cluster; ++i) fibres_.push_back(std::make_unique<Fibre>());
    slots_.resize(fibres_.size());
  }

  static void enter() {
    current_->kernel_();
    self().done = true;
    switch_context(&self().context, &current_->scheduler_);
  }

  void resume(unsigned thread) {
    running_ = thread;
    const unsigned own = thread % of_block_;
    threadIdx = {own % block_.x, own / block_.x % block_.y, own / block_.x / block_.y};
    blockIdx = {first_.x + thread / of_block_, first_.y, first_.z};
    fibres_[thread]->waits = Fibre::kNothing;
    switch_context(&scheduler_, &fibres_[thread]->context);
  }

  /// Every living thread of `first` to `last` waits for `what`, or for more.
  [[nodiscard]] bool all_wait(unsigned first, unsigned last, int what) const {
    for (unsigned i = first; i < last; ++i) {
      if (!fibres_[i]->done && fibres_[i]->waits < what) return false;
    }
    return true;
  }

  void run_cluster(Index first) {
    current_ = this;
    first_ = first;
    arrived_ = 0;
    const unsigned count = threads();
    dynamic_shared_.assign(std::size_t{kDynamicShared} * (count / of_block_), 0xff);
    for (auto& fibre : fibres_) {
      fibre->done = false;
      fibre->arrivals = 0;
      fibre->groups.assign(1, {});
      fibre->context = context_of(fibre->stack.get(), kStack, &Block::enter);
    }
    for (unsigned i = 0; i < count; ++i) resume(i);
    while (!all_wait(0, count, Fibre::kNever)) {
      bool any = false;
      for (unsigned first = 0; first < count; first += of_block_) {
        if (!all_wait(first, first + of_block_, Fibre::kBlock)) continue;
        for (unsigned i = first; i < first + of_block_; ++i) {
          if (fibres_[i]->done) continue;
          resume(i);
          any = true;
        }
      }
      for (unsigned first = 0; first < count; first += kWarp) {
        const unsigned last = std::min(first + kWarp, count);
        const bool whole = all_wait(first, last, Fibre::kWarp);
        for (unsigned i = first; i < last; ++i) {
          Fibre& fibre = *fibres_[i];
          if (fibre.done || fibre.waits == Fibre::kBlock) continue;
          if (fibre.waits == Fibre::kWarp ? !whole : !fibre.condition()) continue;
          resume(i);
          any = true;
        }
      }
      if (!any) std::abort();  // they wait for each other for ever
    }
  }

  static inline Block* current_ = nullptr;
  std::function<void()> kernel_;
  Index block_, first_;      ///< of a block; the cluster's first block
  unsigned of_block_;        ///< threads of a block
  std::size_t arrived_ = 0;  ///< at the cluster's barrier, in all
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::vector<std::uint64_t> slots_;
  std::vector<unsigned char> dynamic_shared_;
  Context scheduler_{};
  unsigned running_ = 0;
};

inline void __syncthreads() { Block::wait(true); }
inline void __threadfence() {}

/// What each thread of the warp brings, by lane.
template <std::size_t count>
std::array<std::array<unsigned, count>, 32> all_of_warp(const std::array<unsigned, count>& mine) {
  const unsigned self = Block::thread(), first = self / 32 * 32;
  std::copy(mine.begin(), mine.end(), Block::words(self).begin());
  Block::wait(false);
  std::array<std::array<unsigned, count>, 32> all{};
  for (unsigned lane = 0; lane < 32; ++lane) std::copy_n(Block::words(first + lane).begin(), count, all[lane].begin());
  Block::wait(false);
  return all;
}

unsigned __byte_perm(unsigned, unsigned, unsigned);  // of tiles that do not lie along K, which nothing here has

template <typename T>
T exchange_with(T value, unsigned lane) {
  const unsigned self = Block::thread(), first = self / 32 * 32;
  std::memcpy(&Block::slot(self), &value, sizeof(value));
  Block::wait(false);
  const unsigned from = lane < 32 && first + lane < Block::threads() ? first + lane : self;
  T got;
  std::memcpy(&got, &Block::slot(from), sizeof(got));
  Block::wait(false);
  return got;
}
template <typename T>
T __shfl_sync(unsigned /*mask*/, T value, int lane) {
  return exchange_with(value, static_cast<unsigned>(lane));
}
template <typename T>
T __shfl_up_sync(unsigned /*mask*/, T value, int step) {
  return exchange_with(value, Block::thread() % 32 - static_cast<unsigned>(step));
}
template <typename T>
T __shfl_xor_sync(unsigned /*mask*/, T value, int step) {
  return exchange_with(value, (Block::thread() % 32) ^ static_cast<unsigned>(step));
}
template <typename T>
T __shfl_down_sync(unsigned /*mask*/, T value, int step) {
  return exchange_with(value, Block::thread() % 32 + static_cast<unsigned>(step));
}

inline void __syncwarp() { Block::wait(false); }
inline unsigned __ballot_sync(unsigned /*mask*/, bool mine) {
  const auto all = all_of_warp(std::array{static_cast<unsigned>(mine)});
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane) bits |= all[lane][0] << lane;
  return bits;
}
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }

template <typename To, typename From>
To same_bits(From from) {
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}
inline unsigned __float_as_uint(float x) { return same_bits<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return same_bits<float>(x); }
inline int __float_as_int(float x) { return same_bits<int>(x); }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline float __int_as_float(int x) { return same_bits<float>(x); }
inline long long __double_as_longlong(double x) { return same_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return same_bits<double>(x); }
inline float __expf(float x) { return expf(x); }
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline float cospif(float x) { return static_cast<float>(cos(M_PI * x)); }
template <typename T>
T __ldcs(const T* at) {
  return *at;
}
template <typename T>
T __ldg(const T* at) {
  return *at;
}
template <typename T>
T __ldcg(const T* at) {
  return *at;
}
template <typename T>
void __stcg(T* at, T value) {
  *at = value;
}
template <typename T>
void __stcs(T* at, T value) {
  *at = value;
}
template <typename T>
void atomicAdd(T* at, T value) {
  *at += value;
}
template <typename T>
void atomicMin(T* at, T value) {
  *at = std::min(*at, value);
}
template <typename T>
void atomicMax(T* at, T value) {
  *at = std::max(*at, value);
}
using std::max;
using std::min;

template <typename... Parameters, std::size_t... indices>
void call(void (*kernel)(Parameters...), void** arguments, std::index_sequence<indices...> /*unused*/) {
  kernel(*static_cast<std::decay_t<Parameters>*>(arguments[indices])...);
}
template <typename... Parameters>
void launch(void (*kernel)(Parameters...), void** arguments, const unsigned* grid, const unsigned* block,
            unsigned cluster) {
  Block::run({grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, cluster,
             [&] { call(kernel, arguments, std::index_sequence_for<Parameters...>()); });
}
