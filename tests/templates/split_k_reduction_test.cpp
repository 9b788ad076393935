// SPDX-License-Identifier: MIT
// Split-K through the workspace, run on the host worker by worker: those that finish a slice get the sum of all
// workers' accumulators, part 0 first, whatever their number, and none writes where another one does.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "tests/templates/on_host.hpp"

// What a GPU answers, and what waits there. Workers run one after the other here, twice: in the second turn all
// partials have been written.
#define thread_index thread_index_of_gpu
#include "templates/device/ptx/special_registers.cuh"
#undef thread_index
#define named_barrier_sync named_barrier_sync_of_gpu
#include "templates/device/ptx/named_barrier.cuh"
#undef named_barrier_sync
#define arrive_and_wait arrive_and_wait_of_gpu
#define arrive arrive_of_gpu
#define wait_for_others wait_for_others_of_gpu
#include "templates/device/ptx/global_flag.cuh"
#undef arrive_and_wait
#undef arrive
#undef wait_for_others
inline void __threadfence() {}
namespace pgtune {
static int thread_of_host = 0;
static int counted = 0, waited = 0;
static std::vector<int> writers;  ///< of each float4 of the workspace: who wrote it, or -1
static float4* workspace = nullptr;
static int worker_of_host = 0;
static bool written_by_two = false;
inline int thread_index() { return thread_of_host; }
template <int kThreads>
void named_barrier_sync(int) {}
inline void arrive_and_wait(unsigned*, unsigned) { ++counted, ++waited; }
inline unsigned arrive(unsigned*, unsigned) {
  ++counted;
  return 0;
}
inline void wait_for_others(const unsigned*, unsigned, unsigned) { ++waited; }
}  // namespace pgtune
inline void __stcg(float4* to, const float4& value) {
  int& writer = pgtune::writers.at(static_cast<std::size_t>(to - pgtune::workspace));
  pgtune::written_by_two |= writer != -1 && writer != pgtune::worker_of_host;
  writer = pgtune::worker_of_host;
  *to = value;
}
inline float4 __ldcg(const float4* from) { return *from; }
#include "templates/device/epilogue/split_k_reduction.cuh"

namespace pgtune {
namespace {

template <int kParts, int kSlices, int kInstructions, int kCount>
void expect_sums() {
  SCOPED_TRACE(testing::Message() << kParts << " workers, " << kSlices << " slices");
  using Reduction = SplitKReduction<kParts, kSlices, kInstructions, kCount, float>;
  // Sums of such numbers are rounded, and differently in another order.
  const auto value = [](int part, int thread, int m, int i) {
    const unsigned mixed = static_cast<unsigned>(part * 7919 + thread * 131 + m * 17 + i) * 2654435761U;
    return static_cast<float>(static_cast<int>(mixed >> 16) - 32768) * static_cast<float>(1 << mixed % 25);
  };
  std::vector<float4> partials(Reduction::kFours);
  workspace = partials.data();
  writers.assign(partials.size(), -1);
  written_by_two = false;
  bool differs = false;
  unsigned count = 0;
  for (const bool second : {false, true}) {
    counted = waited = 0;
    for (worker_of_host = 0; worker_of_host < kParts; ++worker_of_host) {
      for (thread_of_host = 0; thread_of_host < 128; ++thread_of_host) {
        typename Reduction::Accumulators acc;
        for (int m = 0; m < kInstructions; ++m) {
          for (int i = 0; i < kCount; ++i) acc[m][i] = value(worker_of_host, thread_of_host, m, i);
        }
        typename Reduction::Slice own;
        const bool finishes = Reduction::exchange(own, acc, partials.data(), &count, worker_of_host, 1);
        ASSERT_EQ(finishes, worker_of_host < kSlices);
        if (!finishes || !second) continue;
        for (int m = 0; m < kInstructions; ++m) {
          for (int i = 0; i < Reduction::kSlice; ++i) {
            const int at = worker_of_host * Reduction::kSlice + i;
            float sum = value(0, thread_of_host, m, at), own_first = value(worker_of_host, thread_of_host, m, at);
            for (int part = 1; part < kParts; ++part) sum += value(part, thread_of_host, m, at);
            for (int part = 0; part < kParts; ++part)
              if (part != worker_of_host) own_first += value(part, thread_of_host, m, at);
            ASSERT_EQ(own[m][i], sum) << "worker " << worker_of_host << ", thread " << thread_of_host;
            differs |= own_first != sum;
          }
        }
      }
    }
    EXPECT_EQ(counted, kParts) << "one thread of each worker";
    EXPECT_EQ(waited, kSlices) << "who finishes nothing waits for nobody";
  }
  EXPECT_FALSE(written_by_two);
  EXPECT_EQ(differs, kSlices > 2) << "the values show the order";
}

TEST(SplitKReduction, EachWorkerFinishesASlice) {
  expect_sums<2, 2, 1, 64>();
  expect_sums<8, 8, 2, 32>();
}

TEST(SplitKReduction, TheFirstOfAnyNumberOfWorkersFinish) {
  expect_sums<3, 2, 1, 48>();
  expect_sums<5, 4, 2, 64>();
  expect_sums<6, 4, 1, 32>();
  expect_sums<7, 4, 1, 96>();
  expect_sums<14, 8, 1, 64>();
  expect_sums<16, 8, 1, 64>();
  expect_sums<32, 4, 1, 32>();
  expect_sums<24, 1, 1, 16>();
  expect_sums<32, 16, 2, 64>();
}

// The count of a tile that three CTAs share has no multiple of three at 2^32.
TEST(SplitKReduction, ArrivalsAreCountedForEver) {
  for (const unsigned parts : {2U, 3U, 5U, 7U, 14U, 16U, 132U}) {
    const unsigned last = last_count(parts);
    EXPECT_EQ((last + 1) % parts, 0U);
    EXPECT_GT(last, 4'000'000'000U) << "it may be divided, but not often";
    unsigned count = last + 1 - 2 * parts;
    for (int launch = 0; launch < 4; ++launch) {
      std::vector<unsigned> first;
      for (unsigned part = 0; part < parts; ++part) {
        for (const unsigned waiting : first) ASSERT_FALSE(all_arrived(count, waiting, parts));
        first.push_back(first_count(count, parts));
        count = count >= last ? 0 : count + 1;  // atom.inc
      }
      for (const unsigned waiting : first) ASSERT_TRUE(all_arrived(count, waiting, parts)) << parts << " parts";
    }
  }
}

}  // namespace
}  // namespace pgtune
