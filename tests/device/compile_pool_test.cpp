// SPDX-License-Identifier: MIT
#include "tuner/device/compile_pool.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "tests/device/fake_worker_test.hpp"
#include "tuner/protocol/codec.hpp"

namespace pgtune::device {
namespace {

using testing::HasSubstr;

class CompilePoolTest : public FakeWorkerTest {
 protected:
  [[nodiscard]] CompilePool::Options options(std::size_t jobs) const {
    CompilePool::Options options;
    options.worker_path = worker_path();
    options.cache_dir = folder_.string();
    options.jobs = jobs;
    return options;
  }

  /// Submits builds of these tiles (ids are the tiles) and waits for all.
  static Result<std::map<protocol::RequestId, protocol::BuildDone>> build(CompilePool& pool,
                                                                          const std::vector<int>& tiles) {
    for (const int tile : tiles) pool.submit(build_request(tile, tile));
    std::map<protocol::RequestId, protocol::BuildDone> done;
    while (done.size() < tiles.size()) {
      std::vector<protocol::Event> events;
      if (auto polled = pool.poll(events); !polled) return tl::unexpected<Error>(polled.error());
      for (const protocol::Event& event : events)
        done.emplace(std::get<protocol::BuildDone>(event).id, std::get<protocol::BuildDone>(event));
      std::vector<pollfd> fds;
      pool.add_poll_fds(fds);
      if (!events.empty()) continue;
      EXPECT_TRUE(pool.deadline()) << "builds that run end some time";
      static_cast<void>(wait_ready(fds, pool.deadline().value_or(SteadyClock::now())));
    }
    return done;
  }

  [[nodiscard]] std::set<pid_t> worker_pids() const {
    std::set<pid_t> pids;
    for (const LoggedRequest& request : log()) pids.insert(request.pid);
    return pids;
  }
};

TEST_F(CompilePoolTest, BuildsEverythingWithNoMoreWorkersThanJobs) {
  CompilePool pool(options(2));
  EXPECT_EQ(pool.slots(), 4U);
  const auto done = build(pool, {16, 32, 48, 64, 80, 96, 112, 128});
  ASSERT_TRUE(done) << done.error().text();
  for (const auto& [id, result] : *done) {
    EXPECT_EQ(result.outcome.kind, OutcomeKind::kOk);
    EXPECT_FALSE(result.build.cubin_hash.empty());
  }
  EXPECT_EQ(worker_pids().size(), 2U);
}

TEST_F(CompilePoolTest, StartsNoWorkerBeforeItIsNeeded) {
  CompilePool pool(options(4));
  EXPECT_TRUE(log().empty());
  ASSERT_TRUE(build(pool, {16}));
  EXPECT_EQ(worker_pids().size(), 1U);
}

TEST_F(CompilePoolTest, ADyingWorkerCostsItsBuildOnly) {
  set_faults("build|BM=32,|segv;build|BM=64,|exit3;build|BM=96,|fail");
  CompilePool pool(options(2));
  const auto done = build(pool, {16, 32, 48, 64, 80, 96});
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->at(32).outcome, (Outcome{OutcomeKind::kCrashed, "compile worker killed by signal 11 (SIGSEGV)"}));
  EXPECT_EQ(done->at(64).outcome, (Outcome{OutcomeKind::kCrashed, "compile worker exited with 3: fake: out of luck"}));
  EXPECT_EQ(done->at(96).outcome, (Outcome{OutcomeKind::kCompileFailed, "fake: does not compile"}));
  for (const int tile : {16, 48, 80}) EXPECT_EQ(done->at(tile).outcome.kind, OutcomeKind::kOk) << tile;
}

TEST_F(CompilePoolTest, ABuildThatHangsTimesOut) {
  set_faults("build|BM=32,|hang");
  auto quick = options(1);
  quick.build_timeout = std::chrono::milliseconds(200);
  CompilePool pool(quick);
  const auto done = build(pool, {32, 48});
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->at(32).outcome, (Outcome{OutcomeKind::kTimeout, "compile worker gave no answer within 0.2 s"}));
  EXPECT_EQ(done->at(48).outcome.kind, OutcomeKind::kOk);
}

TEST_F(CompilePoolTest, ABuildWhoseWorkerSomebodyElseKillsIsMadeAgain) {
  const auto file = folder_ / "once";
  std::ofstream(file) << "now";
  set_faults("build|BM=32,|killed_once|" + file.string() + ";build|BM=48,|killed");
  CompilePool pool(options(1));
  const auto done = build(pool, {32, 48, 64});
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->at(32).outcome.kind, OutcomeKind::kOk);
  EXPECT_EQ(done->at(48).outcome, (Outcome{OutcomeKind::kCrashed, "compile worker killed by signal 9 (SIGKILL)"}));
  EXPECT_EQ(done->at(64).outcome.kind, OutcomeKind::kOk);
  EXPECT_EQ(worker_pids().size(), 5U) << "the killed, its heir killed thrice, and the last";
}

TEST_F(CompilePoolTest, ACompilerThatRunsOutOfMemoryHasFailedAndNotCrashed) {
  set_faults("build|BM=32,|out_of_memory");
  auto small = options(1);
  small.memory_limit_bytes = std::int64_t{256} << 20U;
  CompilePool pool(small);
  const auto done = build(pool, {32, 48});
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->at(32).outcome.kind, OutcomeKind::kCompileFailed);
  EXPECT_THAT(done->at(32).outcome.reason,
              AllOf(HasSubstr("more than its limit of 256 MiB"), HasSubstr("LLVM ERROR: out of memory")));
  EXPECT_EQ(done->at(48).outcome.kind, OutcomeKind::kOk);
}

TEST_F(CompilePoolTest, NonsenseInsteadOfAReplyIsACrash) {
  set_faults("build|BM=32,|garbage;build|BM=48,|huge");
  CompilePool pool(options(1));
  const auto done = build(pool, {32, 48, 64});
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->at(32).outcome.kind, OutcomeKind::kCrashed);
  EXPECT_THAT(done->at(32).outcome.reason, HasSubstr("this is not JSON"));
  EXPECT_EQ(done->at(48).outcome, (Outcome{OutcomeKind::kCrashed, "compile worker sent a line longer than 64 MiB"}));
  EXPECT_EQ(done->at(64).outcome.kind, OutcomeKind::kOk);
}

TEST_F(CompilePoolTest, AnEnvironmentErrorEndsTheSession) {
  set_faults("build||error");
  CompilePool pool(options(1));
  const auto done = build(pool, {32});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(done.error().text(), "compiling BM=32,BN=64: fake: this machine cannot do it");
}

TEST_F(CompilePoolTest, WorkersThatNeverStartEndTheSession) {
  set_faults("hello||exit3");
  CompilePool pool(options(1));
  const auto done = build(pool, {32});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(done.error().text(), AllOf(HasSubstr("3 compile workers in a row failed"), HasSubstr("out of luck")));
}

TEST_F(CompilePoolTest, AnotherProtocolVersionIsRefusedWithARemedy) {
  set_faults("hello||wrong_version");
  CompilePool pool(options(1));
  const auto done = build(pool, {32});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text(),
              AllOf(HasSubstr("speaks protocol " + std::to_string(protocol::kProtocolVersion + 1) +
                              ", this pgtune speaks " + std::to_string(protocol::kProtocolVersion)),
                    HasSubstr("PGTUNE_WORKER"), HasSubstr(worker_path())));
}

TEST_F(CompilePoolTest, AWorkerIsReplacedBeforeItsMemoryGrows) {
  CompilePool pool(options(1));
  std::vector<int> tiles;
  for (int tile = 1; tile <= 201; ++tile) tiles.push_back(tile);
  ASSERT_TRUE(build(pool, tiles));
  EXPECT_EQ(worker_pids().size(), 2U);
}

TEST_F(CompilePoolTest, OneBuildWithoutASession) {
  const auto done = compile_one(options(0), build_request(5, 64));
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->id, 5);
  EXPECT_EQ(done->outcome.kind, OutcomeKind::kOk);
  set_faults("build||segv");
  EXPECT_EQ(compile_one(options(0), build_request(5, 64)).value().outcome.kind, OutcomeKind::kCrashed);
  auto missing = options(0);
  missing.worker_path = "/nonexistent/pgtune-worker";
  EXPECT_THAT(compile_one(missing, build_request(5, 64)).error().text(), HasSubstr("PGTUNE_WORKER"));
}

}  // namespace
}  // namespace pgtune::device
