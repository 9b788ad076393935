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

#include "db/queries/queries.hpp"
#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

using testing::good_trial;
using ::testing::IsEmpty;
using testing::rounds_of;
using testing::sample;
using testing::ScratchFolder;
using testing::TestSession;

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

TEST(Processes, ThirtyTwoWriteToOneNewFileAndNothingIsLost) {
  constexpr int kProcesses = 32, kTrials = 12, kSamplesOfTrial = 3;
  const ScratchFolder folder;
  const auto path = folder / "pgtune.db";
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(spawn([&] {
      auto database = Database::open(path, OpenMode::kReadWriteCreate);
      const auto session = TestSession().begin(database);
      const std::string name = "P=" + std::to_string(process);
      save_baseline(database, session, testing::baseline("cuBLASLt"));
      for (int i = 0; i < kTrials; ++i) {
        save_trial(database, session, good_trial(name + ",A=" + std::to_string(i)));
        static_cast<void>(find_trials(Database::open(path, OpenMode::kReadOnly), TestSession().key()));
      }
      for (const Stage stage : {Stage::kRace, Stage::kFinal}) {
        save_rounds(database, session, stage,
                    {rounds_of(name + ",A=0", {sample(1e-3)}), rounds_of(0, {sample(1e-3, 1), sample(1e-3, 2)})});
      }
      BestRow best;
      best.variant_key = name + ",A=0";
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
  EXPECT_EQ(find_trials(database, TestSession().key()).size(), std::size_t{kProcesses} * kTrials);
  const auto counted = totals(database);
  EXPECT_EQ(counted.rows.at("sessions"), kProcesses);
  EXPECT_EQ(counted.rows.at("best"), kProcesses);
  EXPECT_EQ(counted.rows.at("devices"), 1);
  EXPECT_EQ(counted.rows.at("samples"), kProcesses * kTrials * kSamplesOfTrial);
  EXPECT_EQ(counted.rows.at("round_samples"), kProcesses * 6);
  std::set<std::string> uids;
  for (const auto& session : list_sessions(database)) {
    EXPECT_NE(session.finished_at, "");
    EXPECT_EQ(session_rounds(database, session.id).size(), 2U);
    uids.insert(session.uid);
  }
  EXPECT_EQ(uids.size(), std::size_t{kProcesses});
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
      const auto session = TestSession().begin(database);
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
    const auto found = find_trials(database, TestSession().key());
    for (const int i : committed) {
      const auto trial = found.find("A=" + std::to_string(i));
      ASSERT_NE(trial, found.end()) << "trial " << i << " is lost in round " << round;
      EXPECT_EQ(trial->second.report.samples.size(), 3U) << "trial " << i << " is incomplete";
    }
    // At most the one trial that was written but not yet reported, each round.
    EXPECT_LE(found.size(), committed.size() + static_cast<std::size_t>(round) + 1);
    next = committed.empty() ? 0 : *committed.rbegin() + 2;
  }
  EXPECT_GT(committed.size(), 9U);
}

}  // namespace
}  // namespace pgtune::db
