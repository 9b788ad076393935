// SPDX-License-Identifier: MIT
// What a finished build says before a launch, and builds of the templates that an operation is compared with.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_search.hpp"
#include "tuner/model/occupancy.hpp"
#include "tuner/operation/operation_definition.hpp"
#include "tuner/session/pipeline/builds.hpp"

namespace pgtune::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

LaunchPlan plan(std::int64_t threads, std::int64_t dynamic_smem_bytes, std::size_t kernels = 1) {
  KernelLaunch kernel;
  kernel.block.x = threads;
  kernel.dynamic_smem_bytes = dynamic_smem_bytes;
  LaunchPlan out;
  out.kernels.assign(kernels, kernel);
  return out;
}

BuildInfo build(int registers, std::int64_t static_smem_bytes = 0) {
  BuildInfo out;
  out.registers = registers;
  out.static_smem_bytes = static_smem_bytes;
  return out;
}

std::optional<std::string> why(const BuildInfo& info, const LaunchPlan& launch) {
  return why_not_launchable(info, launch, FakeDevice(plain_script).device_info);
}

TEST(Launchable, OrdinaryBuildsAre) {
  EXPECT_EQ(why(build(128), plan(256, 65536)), std::nullopt);
  EXPECT_EQ(why(build(64), plan(1024, 0)), std::nullopt);
  EXPECT_EQ(why(build(255, 1024), plan(256, 232448 - 1024)), std::nullopt) << "exactly at the limits";
}

TEST(Launchable, SpillsAreRefusedAndALocalArrayIsNot) {
  BuildInfo info = build(255);
  info.local_bytes = 64;
  EXPECT_EQ(why(info, plan(128, 0)), std::nullopt);
  info.spill_bytes = 16;
  EXPECT_EQ(why(info, plan(128, 0)), "spills 16 bytes per thread");
}

TEST(Launchable, StaticAndDynamicSharedMemoryAddUp) {
  EXPECT_THAT(*why(build(64, 1024), plan(128, 232448)), HasSubstr("233472 bytes of shared memory"));
}

TEST(Launchable, ABlockNeedsItsRegistersAtOnce) {
  EXPECT_THAT(*why(build(72), plan(1024, 0)), HasSubstr("limited by registers: 1024 threads with 72 registers"));
}

TEST(Launchable, CtasThatWaitForEachOtherRunAtATime) {
  LaunchPlan launch = plan(256, 0);
  KernelLaunch& kernel = launch.kernels.front();
  kernel.symbol = "barrier";
  const DeviceInfo device = FakeDevice(plain_script).device_info;
  const std::int64_t at_a_time = device.sm_count * occupancy(device, 128, 0, 256).ctas_per_sm;
  kernel.grid.x = at_a_time + 1;
  EXPECT_EQ(why(build(128), launch), std::nullopt);
  kernel.co_resident = true;
  EXPECT_THAT(
      *why(build(128), launch),
      HasSubstr(fmt::format("kernel 'barrier' is co-resident with {} CTAs, and the GPU runs {} of them at a time",
                            at_a_time + 1, at_a_time)));
  kernel.grid.x = at_a_time;
  EXPECT_EQ(why(build(128), launch), std::nullopt);
}

TEST(Launchable, WithSeveralKernelsOnlyTheCertainIsRefused) {
  EXPECT_EQ(why(build(72, 1024), plan(1024, 232448, 2)), std::nullopt);
  EXPECT_THAT(*why(build(72), plan(128, 232449, 2)), HasSubstr("shared memory"));
}

TEST(Launchable, OneKernelsStaticMemoryIsNotAddedToAnothersDynamicMemory) {
  EXPECT_EQ(smem_bytes(build(64, 8448), plan(128, 65536)), 65536 + 8448);
  EXPECT_EQ(smem_bytes(build(64, 8448), plan(128, 65536, 2)), 65536);
  EXPECT_EQ(smem_bytes(build(64, 8448), plan(128, 0, 2)), 8448);
}

/// The stencil of the examples, searched by one template and compared with the other.
struct Stencil {
  Stencil() {
    const std::filesystem::path folder = std::filesystem::path(PGTUNE_SOURCE_DIR) / "examples/operations/stencil2d";
    const auto definition = operation::load_operation(folder / "stencil2d.json").value();
    problem = operation::make_problem(definition, {{"H", 100}, {"W", 200}}, std::nullopt).value();
    const auto interface = definition.interface();
    const auto none = [](const std::string&) -> Result<std::string> { return fail(ErrorKind::kUsage, "no header"); };
    const auto load = [&](const char* name) { return space::load_template(folder / name, none, &interface).value(); };
    templates = space::TemplateSet(load("stencil2d_columns.json"));
    plain = load("stencil2d_plain.json");
    compare({"WIDTH=64,HEIGHT=4"});
  }

  /// With these variants, behind a library's product, which has no build.
  void compare(const std::vector<std::string>& variants) {
    OperationProblem changed = *problem.operation;
    changed.baselines = {LibraryProduct()};
    std::vector<space::TemplateDefinition> definitions;
    for (const std::string& variant : variants) {
      changed.baselines.emplace_back(TemplateBaseline{"stencil2d_plain.json", variant});
      definitions.push_back(*plain);
    }
    problem.operation = OperationHandle(changed);
    templates = templates->compared_with(definitions);
  }

  Result<std::vector<protocol::BaselineBuild>> build(const BuildOne& one) const {
    return build_baselines(problem, *templates, device, one);
  }

  Problem problem;
  std::optional<space::TemplateSet> templates;
  std::optional<space::TemplateDefinition> plain;
  DeviceInfo device = FakeDevice(plain_script).device_info;
};

Result<protocol::BuildDone> built(const protocol::BuildRequest& request) {
  BuildInfo build;
  build.cubin_hash = request.variant.key();
  build.registers = 32;
  return protocol::BuildDone{request.id, {}, build};
}

TEST(BaselineBuilds, AreOfTheVariantsThatTheOperationNames) {
  Stencil stencil;
  stencil.compare({"WIDTH=64,HEIGHT=4", ""});
  const auto builds = stencil.build(built).value();
  ASSERT_EQ(builds.size(), 2);
  EXPECT_THAT(builds[0].title, MatchesRegex("stencil2d_plain [0-9a-f]{8}"));
  ASSERT_TRUE(builds[0].built);
  EXPECT_EQ(builds[0].built->variant.key(), "WIDTH=64,HEIGHT=4");
  EXPECT_EQ(builds[0].built->build.cubin_hash, "WIDTH=64,HEIGHT=4");
  EXPECT_EQ(builds[0].built->plan.kernels.at(0).grid, (Dim3{4, 25, 1}));
  EXPECT_EQ(builds[1].built->variant.key(), "WIDTH=32,HEIGHT=8") << "the template's default";
}

TEST(BaselineBuilds, SayWhatIsInTheWay) {
  Stencil stencil;
  stencil.compare({"WIDTH=63", "WIDTH=128,HEIGHT=1", "WIDTH=64,HEIGHT=4", "WIDTH=32,HEIGHT=2"});
  const auto builds = stencil.build([](const protocol::BuildRequest& request) {
    auto done = built(request);
    if (request.variant.key() == "WIDTH=128,HEIGHT=1") done->outcome = {OutcomeKind::kCompileFailed, "error: no"};
    if (request.variant.key() == "WIDTH=64,HEIGHT=4") done->build.spill_bytes = 8;
    return done;
  });
  ASSERT_TRUE(builds);
  ASSERT_EQ(builds->size(), 4);
  EXPECT_THAT(builds->at(0).unavailable, HasSubstr("63"));
  EXPECT_EQ(builds->at(1).unavailable, "error: no");
  EXPECT_THAT(builds->at(2).unavailable, HasSubstr("spills"));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(builds->at(i).built) << i;
  EXPECT_TRUE(builds->at(3).built);
  const auto illegal = [&] {
    OperationProblem tall = *stencil.problem.operation;
    for (NamedValue& value : tall.values) value.value = value.name == "H" ? 1'000'000 : value.value;
    stencil.problem.operation = OperationHandle(tall);
    return stencil.build(built).value();
  }();
  EXPECT_EQ(illegal.at(1).unavailable, "rows run along grid.y, which ends at 65535");
}

TEST(BaselineBuilds, WhoeverCannotBuildEndsIt) {
  const auto refused = Stencil().build(
      [](const auto&) -> Result<protocol::BuildDone> { return fail(ErrorKind::kEnvironment, "no compiler"); });
  EXPECT_FALSE(refused);
}

TEST(BaselineBuilds, AreMadeBeforeTheProblemIsPrepared) {
  const Stencil stencil;
  TestSearch search;
  FakeDevice device([](const Variant&) { return Script{}; });
  device.device_info.memory_bytes = std::int64_t{1} << 30;
  search.options.budget.trials = 2;
  const Clock clock = search.clock(device);
  const auto found =
      run_search(stencil.problem, *stencil.templates, device, search.store, search.options, search.stop, {}, clock);
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(device.prepare_request.builds.size(), 1);
  EXPECT_TRUE(device.prepare_request.builds[0].built);
  EXPECT_EQ(device.builds.front(), "WIDTH=64,HEIGHT=4");
}

TEST(BaselineBuilds, AStopIsNotWaitedWith) {
  const Stencil stencil;
  TestSearch search;
  FakeDevice device([](const Variant&) {
    Script script;
    script.build_s = 1e9;
    return script;
  });
  search.stop = true;
  const auto stopped = run_search(stencil.problem, *stencil.templates, device, search.store, search.options,
                                  search.stop, {}, search.clock(device));
  ASSERT_TRUE(stopped) << stopped.error().text();
  EXPECT_TRUE(stopped->interrupted);
  EXPECT_THAT(device.prepare_request.builds.at(0).unavailable, HasSubstr("stopped"));
}

}  // namespace
}  // namespace pgtune::session
