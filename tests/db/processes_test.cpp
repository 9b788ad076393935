// SPDX-License-Identifier: MIT
// Several processes on one file, and processes killed while they write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <random>
#include <set>
#include <thread>

#include "db/queries.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

using testing::good_trial;
using ::testing::IsEmpty;
using testing::Sample;
using testing::ScratchFolder;

/// Runs `work` in a child process that ends without the test framework's clean-up; status 0 unless it throws.
pid_t spawn(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 0;
    try {
      work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
      status = 1;
    }
    ::_exit(status);
  }
  return child;
}

TEST(Processes, EightWriteToOneNewFileAndNothingIsLost) {
  constexpr int kProcesses = 8, kTrials = 50;
  const ScratchFolder folder;
  const auto path = folder / "pgtune.db";
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(spawn([&] {
      auto database = Database::open(path, OpenMode::kReadWriteCreate);
      const auto session = Sample().begin(database);
      for (int i = 0; i < kTrials; ++i) {
        save_trial(database, session, good_trial("P=" + std::to_string(process) + ",A=" + std::to_string(i)));
      }
      BestRow best;
      best.variant_key = "P=" + std::to_string(process) + ",A=0";
      finish_session(database, session, best);
    }));
    ASSERT_GT(children.back(), 0);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const auto database = Database::open(path, OpenMode::kReadOnly);
  EXPECT_THAT(database.check(), IsEmpty());
  EXPECT_EQ(find_trials(database, Sample().key()).size(), std::size_t{kProcesses} * kTrials);
  const auto counted = totals(database);
  EXPECT_EQ(counted.rows.at("sessions"), kProcesses);
  EXPECT_EQ(counted.rows.at("best"), kProcesses);
  EXPECT_EQ(counted.rows.at("devices"), 1);
  EXPECT_EQ(counted.rows.at("blocks"), kProcesses * kTrials * 3);
}

TEST(Processes, AKilledWriterLosesNothingItHadCommitted) {
  const ScratchFolder folder;
  const auto path = folder / "pgtune.db";
  std::mt19937 random(20);
  std::set<int> committed;
  int next = 0;
  for (int round = 0; round < 12; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = spawn([&] {
      auto database = Database::open(path, OpenMode::kReadWriteCreate);
      const auto session = Sample().begin(database);
      for (int i = next;; ++i) {
        save_trial(database, session, good_trial("A=" + std::to_string(i)));
        if (::write(pipe_ends[1], &i, sizeof i) != sizeof i) {
          return;
        }
      }
    });
    ASSERT_GT(child, 0);
    ::close(pipe_ends[1]);
    // The first rounds kill while the file is being made; the others wait until trials arrive.
    int index = 0;
    if (round >= 3) {
      ASSERT_EQ(::read(pipe_ends[0], &index, sizeof index), static_cast<ssize_t>(sizeof index));
      committed.insert(index);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution(0, 30'000)(random)));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    while (::read(pipe_ends[0], &index, sizeof index) == static_cast<ssize_t>(sizeof index)) {
      committed.insert(index);
    }
    ::close(pipe_ends[0]);

    const auto database = Database::open(path, OpenMode::kReadWriteCreate);
    ASSERT_THAT(database.check(), IsEmpty()) << "round " << round;
    const auto found = find_trials(database, Sample().key());
    for (const int i : committed) {
      const auto trial = found.find("A=" + std::to_string(i));
      ASSERT_NE(trial, found.end()) << "trial " << i << " is lost in round " << round;
      EXPECT_EQ(trial->second.blocks.size(), 3U) << "trial " << i << " is incomplete";
    }
    // At most the one trial that was written but not yet reported, each round.
    EXPECT_LE(found.size(), committed.size() + static_cast<std::size_t>(round) + 1);
    next = committed.empty() ? 0 : *committed.rbegin() + 2;
  }
  EXPECT_GT(committed.size(), 9U);
}

}  // namespace
}  // namespace pgtune::db
