// SPDX-License-Identifier: MIT
// The faults that show before a kernel runs, with the real compile worker: plans that are refused, builds that fail,
// never end or eat memory, and builds that cannot be launched. Needs no GPU.
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "tests/gpu/faults.hpp"
#include "tests/gpu/test_folder.hpp"
#include "tuner/device/compile_pool.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/session/pipeline/builds.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::gpu {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;

class FaultsCompile : public testing::Test {
 protected:
  void SetUp() override {
    auto loaded = load_faulty_template();
    ASSERT_TRUE(loaded) << loaded.error().text();
    definition_ = std::move(*loaded);
  }

  [[nodiscard]] device::CompilePool::Options options() const {
    device::CompilePool::Options options;
    options.worker_path = PGTUNE_WORKER_PATH;
    options.cache_dir = folder_.path().string();
    options.jobs = 2;
    options.build_timeout = std::chrono::seconds(60);
    return options;
  }
  [[nodiscard]] Result<LaunchPlan> plan(const Variant& variant) const {
    return space::make_launch_plan(definition_, variant, problem_, gpu_);
  }
  [[nodiscard]] protocol::BuildRequest request(const Variant& variant) {
    auto defines = space::make_defines(definition_, variant, problem_, gpu_);
    EXPECT_TRUE(defines) << variant.key();
    return {++last_id_, variant, definition_.source, defines.value_or(std::vector<Define>{}), gpu_.architecture};
  }
  [[nodiscard]] protocol::BuildDone build(std::string_view fault, const device::CompilePool::Options& options) {
    auto done = device::compile_one(options, request(faulty_variant(fault)));
    EXPECT_TRUE(done) << fault << ": " << done.error().text();
    return done.value_or(protocol::BuildDone{});
  }
  static void expect(const Fault& fault, const Outcome& outcome) {
    EXPECT_EQ(outcome.kind, fault.kind) << fault.name << ": " << outcome.reason;
    EXPECT_THAT(outcome.reason, HasSubstr(fault.words)) << fault.name;
  }

  const TestFolder folder_;
  const Problem problem_ = parse_shape("256x256x256").and_then(with_default_strides).value();
  const DeviceInfo gpu_ = architecture_info("sm_90a").value();
  space::TemplateDefinition definition_;
  protocol::RequestId last_id_ = 0;
};

TEST_F(FaultsCompile, EveryFaultOfTheTemplateIsInTheTable) {
  std::set<std::string> listed{"none"};
  for (const Fault& fault : kFaults) listed.emplace(fault.name);
  std::set<std::string> offered;
  for (const ParameterValue& value : definition_.parameters.front().values)
    offered.insert(std::get<std::string>(value));
  EXPECT_EQ(offered, listed);
  const auto space = space::legal_variants(definition_, problem_, gpu_);
  ASSERT_TRUE(space) << space.error().text();
  EXPECT_EQ(space->variants.size(), kFaults.size() + 4) << "one of each fault and four good ones";
}

TEST_F(FaultsCompile, ImpossiblePlansAreInvalid) {
  for (const Fault& fault : kFaults) {
    const auto planned = plan(faulty_variant(fault.name));
    ASSERT_EQ(planned.has_value(), fault.shows != Shows::kPlan) << fault.name;
    if (planned) continue;
    EXPECT_THAT(planned.error().text(), HasSubstr(fault.words)) << fault.name;
  }
}

TEST_F(FaultsCompile, BuildsFailOrCannotBeLaunchedOrGoOnToTheGpu) {
  device::CompilePool pool(options());
  std::map<protocol::RequestId, Fault> asked;
  const auto submit = [&](const Fault& fault) {
    auto build = request(faulty_variant(fault.name));
    asked.emplace(build.id, fault);
    pool.submit(std::move(build));
  };
  submit({"none", Shows::kLaunch, OutcomeKind::kOk, ""});
  for (const Fault& fault : kFaults) {
    const bool limited = fault.words == "gave no answer within" || fault.words == "MiB of memory";
    if (fault.shows != Shows::kPlan && !limited) submit(fault);
  }
  std::vector<protocol::Event> events;
  while (events.size() < asked.size()) {
    ASSERT_TRUE(pool.poll(events));
    std::vector<pollfd> fds;
    pool.add_poll_fds(fds);
    static_cast<void>(wait_ready(fds, SteadyClock::now() + std::chrono::milliseconds(50)));
  }
  for (const protocol::Event& event : events) {
    const auto& done = std::get<protocol::BuildDone>(event);
    const Fault& fault = asked.at(done.id);
    if (fault.shows == Shows::kBuild) {
      expect(fault, done.outcome);
      continue;
    }
    ASSERT_EQ(done.outcome.kind, OutcomeKind::kOk) << fault.name << ": " << done.outcome.reason;
    const auto reason = session::why_not_launchable(done.build, plan(faulty_variant(fault.name)).value(), gpu_);
    ASSERT_EQ(reason.has_value(), fault.shows == Shows::kBuilt) << fault.name << ": " << reason.value_or("");
    if (reason) expect(fault, {OutcomeKind::kInvalid, *reason});
  }
}

TEST_F(FaultsCompile, ACompileThatNeverEndsIsCutAtItsLimit) {
  auto limited = options();
  limited.build_timeout = std::chrono::milliseconds(1500);
  const auto done = build("endless_compile", limited);
  EXPECT_EQ(done.outcome, (Outcome{OutcomeKind::kTimeout, "compile worker gave no answer within 1.5 s"}));
}

TEST_F(FaultsCompile, ACompileThatEatsMemoryIsStoppedByItsLimit) {
  auto limited = options();
  limited.memory_limit_bytes = 160 * kMebibyte;
  for (const char* fault : {"hungry_frontend", "hungry_optimizer"}) {
    const auto done = build(fault, limited);
    EXPECT_EQ(done.outcome.kind, OutcomeKind::kCompileFailed) << fault << ": " << done.outcome.reason;
    EXPECT_THAT(done.outcome.reason, HasSubstr("limit of 160 MiB of memory (--compile-memory)")) << fault;
  }
  EXPECT_EQ(build("none", limited).outcome.kind, OutcomeKind::kOk) << "an ordinary one fits";
  const auto wrong = build("compile_error", limited);
  EXPECT_THAT(wrong.outcome.reason, testing::Not(HasSubstr("--compile-memory"))) << "an ordinary error stays one";
}

TEST_F(FaultsCompile, ACompilerDiesWithItsParentInTheMiddleOfACompile) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // the orphan comes here
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    static_cast<void>(device::compile_one(options(), request(faulty_variant("endless_compile"))));
    ::_exit(0);
  }
  const std::string children = "/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children";
  pid_t worker = 0;
  while (!(std::ifstream(children) >> worker)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const std::string stat = "/proc/" + std::to_string(worker) + "/stat";
  const auto compiling = [&] {  // it has used a quarter of a second of processor time
    std::ifstream file(stat);
    std::string word;
    for (int field = 1; field <= 14; ++field) file >> word;
    return word.empty() || std::stol(word) > 25;
  };
  while (!compiling()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  int status = 0;
  EXPECT_EQ(::waitpid(worker, &status, 0), worker);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(::waitpid(-1, &status, WNOHANG), -1) << "the compiler had children of its own";
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace pgtune::gpu
