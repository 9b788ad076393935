// SPDX-License-Identifier: MIT
#include "tuner/util/parallel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <set>

namespace pgtune {
namespace {

TEST(InParallel, EachIsDoneOnceByNoMoreThreadsThanAskedFor) {
  for (const std::size_t threads : {0U, 1U, 3U, 100U}) {
    for (const std::size_t count : {0U, 1U, 50U}) {
      std::vector<int> calls(count);
      std::mutex mutex;
      std::set<std::thread::id> workers;
      in_parallel(count, threads, [&](std::size_t i) {
        ++calls[i];
        const std::lock_guard lock(mutex);
        workers.insert(std::this_thread::get_id());
      });
      EXPECT_THAT(calls, testing::Each(1));
      EXPECT_LE(workers.size(), std::max<std::size_t>(threads, 1));
    }
  }
}

TEST(InParallel, ThrowsWhatAPartThrewOnceAllHaveEnded) {
  for (const std::size_t threads : {1, 4}) {
    std::atomic<int> running = 0;
    EXPECT_THROW(in_parallel(100, threads,
                             [&](std::size_t i) {
                               ++running;
                               if (i == 3) {
                                 --running;
                                 throw std::runtime_error("no");
                               }
                               --running;
                             }),
                 std::runtime_error);
    EXPECT_EQ(running, 0);
  }
}

}  // namespace
}  // namespace pgtune
