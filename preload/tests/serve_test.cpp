// SPDX-License-Identifier: MIT
// Kernels that are served to a program that calls fakes of cuBLAS and of CUDA.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "preload/program/kernel_library.hpp"
#include "tests/exported/sample_export.hpp"
#include "tests/tool/process.hpp"
#include "tool/pgtune/cli/options/problem_options.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::tool::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Serve : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new ExportFolder("");
    CallableHeader content = sample_export();
    content.name_space = kServedNamespace;
    content.file_name = std::string(kServedNamespace) + ".hpp";
    std::erase_if(content.entries, [](const ExportedEntry& entry) { return entry.guessed_loss.has_value(); });
    plain_ = first(content, Dtype::kBf16, false, 0);
    with_workspace_ = first(content, Dtype::kBf16, true, 0);
    tf32_ = first(content, Dtype::kTf32, false, 0);
    adding_ = first(content, Dtype::kF32, false, 0.5);
    integers_ = first(content, Dtype::kInt8, false, 1);
    family_ = content.families.front().family;
    const ExportedFamily& family = content.families.front();
    for (const double ratio_low : {0.99, 1.01}) {
      ExportedEntry& entry = content.entries.emplace_back(ExportedEntry(content.entries.front()));
      entry.problem = family_.at(ratio_low < 1 ? kSlowerM : kFasterM);
      entry.variant = family.intervals[2].variant;
      entry.ratio_low = ratio_low;
    }
    const auto compiled = compile_kernels(folder_->path(), content);
    ASSERT_TRUE(compiled) << compiled.error().text();
    library_ = compiled->string();
  }
  static void TearDownTestSuite() { delete folder_; }

  static Problem first(const CallableHeader& content, Dtype dtype, bool workspace, double beta) {
    for (const ExportedEntry& entry : content.entries) {
      const Problem& problem = entry.problem;
      if (problem.dtype != dtype) continue;
      Problem usual = with_layout(parse_shape(problem.shape()).value(), problem.layout()).value();
      usual.dtype = dtype;
      usual.beta = beta;
      if (!(problem == with_default_strides(usual).value())) continue;
      const bool also_f32 =
          std::any_of(content.entries.begin(), content.entries.end(), [&](const ExportedEntry& other) {
            return other.problem.dtype == Dtype::kF32 && other.problem.shape() == problem.shape();
          });
      if (dtype == Dtype::kTf32 && also_f32) continue;
      const ExportedVariant& variant = content.variants[entry.variant];
      const LaunchPlan plan =
          space::make_launch_plan(content.templates[variant.template_number], variant.variant, problem, sample_device())
              .value();
      if ((plan.workspace_bytes > 0) == workspace) return problem;
    }
    ADD_FAILURE() << "no such entry";
    return {};
  }

  static Finished serve(const std::string& how, const Problem& problem, const std::vector<std::string>& options = {},
                        std::map<std::string, std::string> environment = {}, const std::string& mode = "--serve") {
    Launch launch;
    launch.arguments = {"run", mode, "--kernels", library_};
    launch.arguments.insert(launch.arguments.end(), options.begin(), options.end());
    const std::string type = problem.dtype == Dtype::kBf16 ? "14" : problem.dtype == Dtype::kInt8 ? "3" : "0";
    for (const std::string& word :
         std::vector<std::string>{"--", PGTUNE_SERVED_USER, how, std::to_string(problem.m), std::to_string(problem.n),
                                  std::to_string(problem.k), problem.layout(), type})
      launch.arguments.push_back(word);
    launch.environment = std::move(environment);
    launch.environment["PATH"] = "/usr/bin:/bin";
    return run(launch);
  }

  static void expect_refused(const std::string& how, const Problem& problem, const std::string& reason,
                             const std::vector<std::string>& options = {},
                             const std::map<std::string, std::string>& environment = {}) {
    SCOPED_TRACE(how);
    const Finished finished = serve(how, problem, options, environment);
    EXPECT_THAT(finished.out, testing::EndsWith(", 0 launches\n"));
    EXPECT_THAT(finished.out, testing::Not(HasSubstr("0 none, none"))) << "cuBLAS was not called";
    EXPECT_THAT(finished.err, HasSubstr(reason));
    EXPECT_THAT(finished.err, HasSubstr("Served 0.0 % of the GEMM time: 0 of 3 calls."));
  }

  static inline const std::string kLacking = "needs more workspace than the program gives: up to ";
  static inline ExportFolder* folder_ = nullptr;
  static inline std::string library_;
  static inline Problem plain_, with_workspace_, tf32_, adding_, integers_;
  static inline Family family_;  ///< of 2 to 512 rows, beside one of 1 to 1024 that loses 8 %
  /// M of the family that were tuned, too: slower and faster than cuBLASLt.
  static constexpr std::int64_t kSlowerM = 300, kFasterM = 301;
};

TEST_F(Serve, AnswersTunedCalls) {
  for (const Problem& problem : {plain_, with_workspace_}) {
    const Finished served = serve("gemm", problem);
    EXPECT_EQ(served.exit_code, 0);
    EXPECT_THAT(served.out, StartsWith("0 none, none, ")) << served.err;
    EXPECT_THAT(served.err, HasSubstr("Served 100.0 % of the GEMM time: 3 of 3 calls."));
  }
  EXPECT_THAT(serve("lt", plain_).out, StartsWith("0 none, none, "));
}

TEST_F(Serve, AnswersEveryMOfAFamilyWhateverItLosesToSingleSearches) {
  for (const std::int64_t m : {1, 2, 77, 450, 512, 513, 1024}) {
    const Finished served = serve("gemm", family_.at(m));
    EXPECT_THAT(served.out, StartsWith("0 none, none, ")) << m;
    EXPECT_THAT(served.err, HasSubstr("3 of 3 calls.\nOf these by families, 100.0 %: 3 calls.")) << m;
  }
  expect_refused("gemm", family_.at(1025), "no kernel is tuned for it");
  EXPECT_THAT(serve("gemm", family_.at(77), {"--rounds", "1"}, {}, "--compare").out, HasSubstr(" a family\n"));
}

#ifdef PGTUNE_HAVE_WORKER
TEST_F(Serve, CompilesTheFamiliesOfADatabase) {
  const std::string file = (folder_->path() / "families.db").string();
  write_families(file);
  Launch launch;
  launch.arguments = {"run",  "--serve", "--db", file,  "--", PGTUNE_SERVED_USER,
                      "gemm", "100",     "1536", "768", "nt", "14"};
  launch.environment = {{"PATH", "/usr/bin:/bin"}, {"XDG_CACHE_HOME", shared_cache()}};
  EXPECT_THAT(run(launch).err, HasSubstr("3 of 3 calls.\nOf these by families, 100.0 %: 3 calls."));
}
#endif

TEST_F(Serve, PrefersTheSearchOfTheVeryProblemToAFamily) {
  expect_refused("gemm", family_.at(kSlowerM), "none that is faster than cuBLASLt");
  const Finished served = serve("gemm", family_.at(kFasterM));
  EXPECT_THAT(served.err, testing::AllOf(HasSubstr("3 of 3 calls."), testing::Not(HasSubstr("by families"))));
}

TEST(FasterRanges, ReachAFactorOfTwoAndHalfwayToTheNextProbe) {
  using testing::ElementsAre;
  using testing::Pair;
  Family family;
  family.problem.m = 4096;
  const auto ranges = [&](int doublings, const std::vector<double>& cublaslt_s) {  // of M, from 4 on
    family.probes.clear();
    for (const double seconds : cublaslt_s)
      family.probes.push_back({.m = std::int64_t{4} << (static_cast<std::size_t>(doublings) * family.probes.size()),
                               .family_s = 1,
                               .best_s = 1,
                               .baseline_first_s = seconds,
                               .baseline_best_s = seconds,
                               .best = {}});
    return faster_ranges(family);
  };
  EXPECT_THAT(ranges(4, {1.1, 1.1, 1.1}), ElementsAre(Pair(2, 8), Pair(32, 128), Pair(512, 2048)));
  EXPECT_THAT(ranges(1, {1.1, 1.1, 1.1}), ElementsAre(Pair(2, 32)));
  EXPECT_THAT(ranges(1, {1.1, 0.9, 1.1}), ElementsAre(Pair(2, 5), Pair(12, 32)));
  EXPECT_THAT(ranges(4, {0.9, 1.1, 1}), ElementsAre(Pair(32, 128)));
  EXPECT_THAT(ranges(1, {}), ElementsAre());
  EXPECT_THAT(ranges(1, {0}), ElementsAre()) << "without a baseline";
}

TEST_F(Serve, PreparesWithoutBreakingACapture) {
  EXPECT_THAT(serve("capture", plain_).out,
              testing::AllOf(StartsWith("0 none, none, "), testing::Not(HasSubstr("broken"))));
}

TEST_F(Serve, RefusesForTheReasonThatItNames) {
  Problem untuned = plain_;
  untuned.m += 8;
  expect_refused("gemm", untuned, "no kernel is tuned for it");
  expect_refused("alpha", plain_, "alpha is not 1");
  expect_refused("lower", plain_, "another attribute of cublasLtMatmul");
  expect_refused("misaligned", plain_, "a pointer is aligned to less");
  expect_refused("no_workspace", with_workspace_, kLacking);
  expect_refused("other_context", plain_, "context is not the device's primary one");
  expect_refused("unprepared", plain_, "no kernel is tuned for this GPU, or its driver is too old");
  for (const char* variable : {"CUBLAS_WORKSPACE_CONFIG", "CUBLASLT_WORKSPACE_SIZE", "CUBLAS_EMULATE_SINGLE_PRECISION"})
    expect_refused("gemm", plain_, "reproducible or emulated results", {}, {{variable, "1"}});
  const std::string deny = (folder_->path() / "deny.txt").string();
  std::ofstream(deny) << listed(plain_).line << '\n';
  expect_refused("gemm", plain_, "denied (--deny)", {"--deny", deny});
  EXPECT_THAT(serve("gemm", with_workspace_, {"--deny", deny}).err, HasSubstr("Served 100.0 %"));
}

TEST_F(Serve, LeavesAThreadsFirstCallToCublasThatHasNoContext) {
  EXPECT_THAT(serve("late_context", plain_).err,
              testing::AllOf(HasSubstr("2 of 3 calls.\n"), HasSubstr("1 call: the thread has no CUDA context yet"),
                             testing::Not(HasSubstr("for this GPU")), testing::Not(HasSubstr("in CUDA graphs"))));
}

TEST_F(Serve, NeedsNoWorkspaceWhereTheKernelNeedsNone) {
  EXPECT_THAT(serve("no_workspace", plain_).err, HasSubstr("Served 100.0 %"));
}

TEST_F(Serve, TakesMemoryForAWorkspaceAsFarAsAllowed) {
  const Finished served = serve("no_workspace", with_workspace_, {"--workspace", "16384"});
  EXPECT_THAT(served.out, testing::AllOf(StartsWith("0 none, none, "), testing::Not(HasSubstr("memory kept"))));
  EXPECT_THAT(served.err, HasSubstr("Served 100.0 %"));
  const std::string refused = serve("no_workspace", with_workspace_).err;
  const int needed_mib = std::atoi(refused.substr(refused.find(kLacking) + kLacking.size()).c_str());
  const std::string named = std::to_string(needed_mib);
  EXPECT_THAT(refused, HasSubstr(named + " MiB. See --workspace."));
  EXPECT_THAT(serve("no_workspace", with_workspace_, {"--workspace", named}).err, HasSubstr("Served 100.0 %"));
  for (const int too_little : {needed_mib - 1, 0})
    expect_refused("no_workspace", with_workspace_, kLacking, {"--workspace", std::to_string(too_little)});
}

TEST_F(Serve, TakesNoMemoryForAGraphAndGivesUpWhereThereIsNone) {
  expect_refused("no_workspace_captured", with_workspace_, kLacking, {"--workspace", "16384"});
  expect_refused("no_workspace_other_context", with_workspace_, "context is not the device's primary one",
                 {"--workspace", "16384"});
  const Finished failing = serve("no_workspace_no_memory", with_workspace_, {"--workspace", "16384"});
  EXPECT_THAT(failing.out, StartsWith("0 13 cublas"));
  EXPECT_THAT(failing.err, testing::AllOf(HasSubstr("there is no memory for a workspace (CUDA error 2)"),
                                          HasSubstr("3 calls: after a failed launch")));
}

TEST_F(Serve, ComputesFloat32InTf32OnlyIfTold) {
  expect_refused("gemm", tf32_, "no kernel is tuned for it");
  const Finished served = serve("gemm", tf32_, {"--f32", "tf32"});
  EXPECT_THAT(served.err, HasSubstr("Served 100.0 %"));
  EXPECT_THAT(served.err, HasSubstr("--f32 tf32: each product may be off by 2.0e-03 of itself"));
}

TEST_F(Serve, LeavesIntegersToCublasThatMayNotFit) {
  EXPECT_THAT(serve("gemm", integers_).err, HasSubstr("Served 100.0 %"));
  expect_refused("overflowing", integers_, "no kernel is tuned for it");
}

TEST_F(Serve, GivesUpAfterAFailedLaunchAndSaysSoOnce) {
  const Finished failing = serve("failing", plain_);
  EXPECT_THAT(failing.out, StartsWith("0 13 cublasGemmEx"));
  const std::string said = "pgtune: a kernel could not be launched (CUDA error 700)";
  EXPECT_THAT(failing.err, HasSubstr(said));
  EXPECT_EQ(failing.err.find(said), failing.err.rfind(said));
  EXPECT_THAT(failing.err, HasSubstr("Not served, 100.0 %, 3 calls: after a failed launch"));
}

TEST_F(Serve, ReportsAFailedLaunchThatMayHaveChangedC) {
  EXPECT_THAT(serve("failing_once", plain_).out, StartsWith("0 13 cublasGemmEx")) << "C is not read";
  EXPECT_THAT(serve("adding", adding_).err, HasSubstr("Served 100.0 %"));
  EXPECT_THAT(serve("failing_in_place", adding_).out, StartsWith("13 none, none"));
}

TEST_F(Serve, ChecksTheFirstCallsBesideCublas) {
  const Finished right = serve("right", plain_, {"--check", "2"});
  EXPECT_EQ(right.exit_code, 0);
  EXPECT_THAT(right.out, HasSubstr("0 13 cublasGemmEx"));
  EXPECT_THAT(right.err, testing::AllOf(HasSubstr("1 of 3 calls"), HasSubstr("2 calls: checked beside cuBLAS"),
                                        HasSubstr("Checked 2 calls of 1 problem: all agree with cuBLAS.")));
  const Finished shadow = serve("right", plain_, {"--check", "shadow"});
  EXPECT_THAT(shadow.err, testing::AllOf(HasSubstr("0 of 3 calls"), HasSubstr("Checked 3 calls")));
}

TEST_F(Serve, LeavesAWrongKernelToCublas) {
  const Finished wrong = serve("wrong", plain_, {"--check", "1"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, testing::AllOf(HasSubstr("differs from cuBLAS's beyond the error bound"),
                                        HasSubstr("2 calls: after a failed launch or check"),
                                        HasSubstr("Checked 1 call of 1 problem: 1 wrong.")));
}

TEST_F(Serve, JudgesNoKernelByACallThatCublasRefuses) {
  const Finished refused = serve("refused", plain_, {"--check", "1"});
  EXPECT_EQ(refused.exit_code, 0);
  EXPECT_THAT(refused.out, StartsWith("15 none, none"));
  EXPECT_THAT(refused.err,
              testing::AllOf(HasSubstr("3 calls: checked beside cuBLAS"),
                             testing::Not(HasSubstr("differs from cuBLAS's")), testing::Not(HasSubstr("Checked "))));
}

TEST_F(Serve, LeavesAChildWithoutExecToCublas) {
  EXPECT_THAT(serve("fork", plain_).out, HasSubstr("0 13 cublasGemmEx, 13 cublasLtMatmul"));
}

TEST_F(Serve, CanBeSwitchedOff) {
  EXPECT_THAT(serve("gemm", plain_, {}, {{"PGTUNE_RUN", "off"}}).out, StartsWith("0 13 cublasGemmEx"));
}

TEST_F(Serve, IsComparedWithRunsWithout) {
  const Finished compared = serve("gemm", plain_, {"--rounds", "2"}, {}, "--compare");
  EXPECT_EQ(compared.exit_code, 0);
  EXPECT_THAT(compared.err, HasSubstr("The program runs 5 times: once traced, then 2 times without"));
  EXPECT_THAT(compared.out,
              testing::AllOf(HasSubstr(", 2 runs)\nwith "), HasSubstr(plain_.shape()), HasSubstr(" pgtune\n"),
                             HasSubstr("Served 100.0 % of the GEMM time: 6 of 6 calls.\n")));
  EXPECT_EQ(serve("exit", plain_, {}, {}, "--compare").exit_code, 7);
  const Finished once = serve("gemm", plain_, {"--rounds", "1"}, {}, "--compare");
  EXPECT_THAT(once.err, HasSubstr("then 1 time without kernels and 1 time with them."));
  EXPECT_THAT(once.out, HasSubstr(", 1 run)\nwith "));
}

TEST_F(Serve, RefusesWrongOptions) {
  EXPECT_EQ(serve("gemm", plain_, {"--trace", "list"}).exit_code, 2);
  EXPECT_EQ(serve("gemm", plain_, {"--db", "file"}).exit_code, 2) << "beside --kernels";
  const Finished f32 = serve("gemm", plain_, {"--f32", "bf16"});
  EXPECT_EQ(f32.exit_code, 2);
  EXPECT_THAT(f32.err, testing::AllOf(HasSubstr("--f32: bf16 not in"), HasSubstr("tf32x3"), HasSubstr("tf32}")));
  EXPECT_EQ(serve("gemm", plain_, {"--deny", "/no/file"}).exit_code, 2);
  EXPECT_EQ(serve("gemm", plain_, {"--check", "all"}).exit_code, 2);
  Launch launch;
  launch.environment = {{"PATH", "/usr/bin:/bin"}};
  launch.arguments = {"run", "--trace", "list", "--kernels", library_, "--", "true"};
  EXPECT_EQ(run(launch).exit_code, 2);
  launch.arguments = {"run", "--trace", "list", "--rounds", "3", "--", "true"};
  EXPECT_THAT(run(launch).err, HasSubstr("--rounds goes with --compare."));
  launch.arguments = {"run", "--trace", "list", "--db", "file", "--", "true"};
  EXPECT_THAT(run(launch).err, HasSubstr("--workspace and --db go with --serve and --compare."));
  EXPECT_THAT(serve("gemm", plain_, {"--top", "banana"}).err, HasSubstr("--top goes with --trace."));
  EXPECT_THAT(serve("gemm", plain_, {"--rounds", "-7"}).err, HasSubstr("--rounds goes with --compare."));
  for (const char* other : {"/no/library.so", "/", "/bin/ls", "/etc/passwd"}) {
    launch.arguments = {"run", "--serve", "--kernels", other, "--", "true"};
    EXPECT_EQ(run(launch).exit_code, 2) << other;
  }
  launch.arguments = {"run", "--serve", "--db", (folder_->path() / "none.db").string(), "--", "true"};
  EXPECT_NE(run(launch).exit_code, 0);
}

}  // namespace
}  // namespace pgtune::tool::test
