// SPDX-License-Identifier: MIT
// Two processes of pgtune that want one GPU.
#include <csignal>

#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

constexpr const char* kWaits = "GPU 0 is busy: waiting for another pgtune (process ";

class GpuLockCommandTest : public CliTest {
 protected:
  /// A search that holds GPU 0 once a trial hangs.
  [[nodiscard]] Launch holder() const {
    Launch launch = launch_;
    launch.environment["PGTUNE_FAKE"] = "trial||hang";
    launch.arguments = search_arguments(path("tiny.json"), {"--db", path("first.db"), "--shape", "512x512x512"});
    return launch;
  }
  /// Stops `holder` in its trial: running, it would give the trial up and prepare its problem again.
  void await_hold(const Process& holder) {
    await([&] { return requests("trial") > 0; });
    holder.signal(SIGSTOP);
  }
};

TEST_F(GpuLockCommandTest, TheSecondSaysWhoIsThereAndWhatToDo) {
  Process first(holder());
  await_hold(first);
  const Finished second = search();
  EXPECT_EQ(second.exit_code, 3);
  EXPECT_THAT(second.err, AllOf(HasSubstr("another pgtune (process " + std::to_string(first.pid()) + ")"),
                                HasSubstr("measuring on GPU 0"), HasSubstr("--wait")));
  EXPECT_EQ(second.out, "");
}

TEST_F(GpuLockCommandTest, WaitGoesOnWhenTheHolderEnds) {
  Process first(holder());
  await_hold(first);
  launch_.arguments = search_arguments(path("tiny.json"), {"--wait", "--json"});
  ASSERT_EQ(requests("prepare"), 1);  // the holder's, whose compile workers may still be at work
  Process second(launch_);
  EXPECT_TRUE(second.await_message(kWaits));
  EXPECT_EQ(requests("prepare"), 1);
  first.signal(SIGKILL);
  const Finished finished = second.wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(json::parse(finished.out).contains("best"));
}

TEST_F(GpuLockCommandTest, ASignalEndsTheWait) {
  Process first(holder());
  await_hold(first);
  launch_.arguments = search_arguments(path("tiny.json"), {"--wait"});
  Process second(launch_);
  EXPECT_TRUE(second.await_message(kWaits));
  second.signal(SIGINT);
  EXPECT_EQ(second.wait().exit_code, 130);
}

TEST_F(GpuLockCommandTest, OfSeveralGpusTheBusyOneIsLeftOut) {
  launch_.environment["PGTUNE_FAKE_GPUS"] = "2";
  Process first(holder());
  await_hold(first);
  write("shapes.txt", "256x256x256\n512x512x512\n256x512x256\n");
  const Finished second =
      pgtune({"search", "--template", path("tiny.json"), "--shapes", path("shapes.txt"), "--device", "all", "--json"});
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.err, AllOf(HasSubstr("measuring on GPU 0"), HasSubstr("this GPU is left out from here on")));
  const json printed = json::parse(second.out);
  for (const json& result : printed.at("results"))
    EXPECT_TRUE(result.at("device").at("uuid").get<std::string>().ends_with('1'));
}

TEST_F(GpuLockCommandTest, OfSeveralGpusNoProblemWaitsForTheBusyOne) {
  launch_.environment["PGTUNE_FAKE_GPUS"] = "2";
  Process first(holder());
  await_hold(first);
  write("shapes.txt", "256x256x256\n512x512x512\n256x512x256\n");
  const Finished second = pgtune({"search", "--template", path("tiny.json"), "--shapes", path("shapes.txt"), "--device",
                                  "all", "--wait", "--json"});
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.err, HasSubstr("GPU 0 is busy: waiting for another pgtune"));
  EXPECT_EQ(json::parse(second.out).at("results").size(), 3U);
}

TEST_F(GpuLockCommandTest, TheLongestWorkIsHandedOutFirst) {
  launch_.environment["PGTUNE_FAKE_GPUS"] = "2";
  Process first(holder());
  await_hold(first);
  // By the GPU that is free, while the other one is waited for.
  const auto first_prepared = [&](const std::string& shapes, const std::vector<std::string>& options) {
    write("shapes.txt", shapes);
    write("requests.log", "");
    const Finished finished =
        pgtune({"search", "--template", path("tiny.json"), "--shapes", path("shapes.txt"), "--device", "all", "--wait"},
               options);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    const std::string log = read("requests.log");
    return log.substr(log.find(" prepare "), 40);
  };
  const std::string shapes = "4096x4096x4096 weight 30\n64x64x64 weight 60\n";
  EXPECT_THAT(first_prepared(shapes, {"--total", "20s", "--strategy", "guided"}), HasSubstr("64x64x64 "))
      << "it has the larger budget";
  const std::string ranges = "4096..4097x4096x4096\n1..64x64x64\n";
  EXPECT_THAT(first_prepared(ranges, {"--probes", "0", "--strategy", "guided", "--db", path("ranges.db")}),
              HasSubstr("x64x64 "))
      << "it has more anchors";
}

TEST_F(GpuLockCommandTest, WhatNeedsNoGpuIsNotHeldUp) {
  ASSERT_EQ(search().exit_code, 0);
  Process first(holder());
  await_hold(first);
  EXPECT_EQ(search().exit_code, 0) << "the database answers";
  EXPECT_EQ(search({"--device", "recording:" + database(), "--db", path("recorded.db")}).exit_code, 0);
}

TEST_F(GpuLockCommandTest, ClocksAreLockedByTheHolderOnly) {
  Process first(holder());
  await_hold(first);
  EXPECT_EQ(search({"--lock-clocks"}).exit_code, 3);
  EXPECT_EQ(requests("lock"), 0);
}

}  // namespace
}  // namespace pgtune::tool::test
