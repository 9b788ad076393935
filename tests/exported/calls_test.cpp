// SPDX-License-Identifier: MIT
// Programs that call an exported header, against a driver that only records.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>

#include "tests/exported/sample_operations.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::tool::test {
namespace {

/// One header and its program for all scenarios: compiling them is what takes time.
class ExportedCalls : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    content_ = std::make_unique<CallableHeader>(sample_export());
    folder_ = std::make_unique<ExportFolder>(write_callable_header(*content_));
    compiled_ = folder_->compile("c++ -std=c++17 -g -fsanitize=address,undefined -fno-sanitize-recover=all",
                                 kPrograms + "calls.cpp", "calls");
  }
  static void TearDownTestSuite() {
    folder_.reset();
    content_.reset();
  }

  static std::string run(const std::string& scenario, int expected = 0) {
    EXPECT_TRUE(compiled_);
    std::string output;
    // The fake driver is not instrumented and lives as long as the process.
    EXPECT_EQ(folder_->run("ASAN_OPTIONS=detect_leaks=0 " + kWithFake + "./calls " + scenario, &output), expected)
        << output;
    return output;
  }

  /// What the interpreter plans for the entry with this number.
  static LaunchPlan plan_of(std::size_t entry) {
    const ExportedVariant& variant = content_->variants[content_->entries[entry].variant];
    return space::make_launch_plan(content_->templates[variant.template_number], variant.variant,
                                   content_->entries[entry].problem, sample_device())
        .value();
  }

  static inline std::unique_ptr<CallableHeader> content_;
  static inline std::unique_ptr<ExportFolder> folder_;
  static inline bool compiled_ = false;
};

/// One test, because each process has to compile the program that plays them.
TEST_F(ExportedCalls, EveryScenarioHolds) {
  for (const char* scenario : {"unprepared",    "prepared",     "wrong_arguments",
                               "biases",        "scalars",      "launches_compared",
                               "streams",       "capture",      "no_driver",
                               "old_driver",    "wrong_device", "other_device",
                               "other_memory",  "dispatch",     "guess",
                               "pin",           "every_m",      "batch_invariant",
                               "cache",         "alignment",    "failing_select",
                               "launch_limits", "map_limits",   "products",
                               "contexts",      "images",       "edges"}) {
    SCOPED_TRACE(scenario);
    run(scenario);
  }
}

/// Most of a header is kernels.
TEST(ExportedImages, TakeLittleMoreThanTheirBytes) {
  CallableHeader content = sample_export();
  const std::size_t without = write_callable_header(content).size();
  constexpr std::size_t kMore = 100'000;
  for (std::size_t i = 0; i < kMore; ++i) content.images.front().bytes += static_cast<char>(i % 251);
  const std::size_t more = write_callable_header(content).size() - without;
  EXPECT_GE(more, kMore * 5 / 4);
  EXPECT_LE(more, kMore * 13 / 10);
}

char kind_letter(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::kPointer:
      return 'p';
    case ArgumentKind::kTensorMap:
      return 'm';
    case ArgumentKind::kInt32:
      return 'i';
    case ArgumentKind::kInt64:
      return 'l';
    case ArgumentKind::kFloat32:
      break;
  }
  return 'f';
}

std::uint64_t address_of(Operand operand, const Problem& problem) {
  switch (operand) {
    case Operand::kA:
      return 0x11000000;
    case Operand::kB:
      return 0x20000000;
    case Operand::kC:
      return problem.beta != 0 ? 0x30000000 : 0x40000000;
    case Operand::kD:
      return 0x40000000;
    case Operand::kBias:
      return 0x50000000;
    case Operand::kWorkspace:
      break;
  }
  return 0x60000000;
}

/// The start of a launch as the fake driver logs it, and its arguments but for maps and scalars.
std::string launch_start(const KernelLaunch& kernel) {
  std::string line =
      fmt::format("{} grid {} {} {} block {} {} {} smem {}", kernel.symbol, kernel.grid.x, kernel.grid.y, kernel.grid.z,
                  kernel.block.x, kernel.block.y, kernel.block.z, kernel.dynamic_smem_bytes);
  if (kernel.cluster.count() > 1)
    line += fmt::format(" cluster {} {} {}", kernel.cluster.x, kernel.cluster.y, kernel.cluster.z);
  return line + (kernel.waits_first || kernel.overlaps_previous ? " overlaps" : "");
}

TEST_F(ExportedCalls, LaunchWhatTheInterpreterPlans) {
  // A template may have kernels of one name with other arguments, so each entry has its own.
  std::string signatures;
  for (std::size_t i = 0; i < content_->entries.size(); ++i) {
    for (const KernelLaunch& kernel : plan_of(i).kernels) {
      signatures += fmt::format("{} {} ", i, kernel.symbol);
      for (const KernelArgument& argument : kernel.arguments) signatures += kind_letter(argument.kind);
      signatures += '\n';
    }
  }
  folder_->write("signatures", signatures);
  std::istringstream output(run("launches"));
  int with_flags = 0, together = 0;
  std::string line;
  std::getline(output, line);
  for (std::size_t i = 0; i < content_->entries.size(); ++i) {
    const ExportedEntry& entry = content_->entries[i];
    const LaunchPlan plan = plan_of(i);
    ASSERT_EQ(line, fmt::format("entry {} workspace {}", i, plan.workspace_bytes));
    std::optional<std::int64_t> flags_at;
    std::size_t kernel = 0;
    while (std::getline(output, line) && !line.starts_with("entry ")) {
      ASSERT_LT(kernel, plan.kernels.size());
      const KernelLaunch& launch = plan.kernels[kernel++];
      if (launch.symbol == "clear_flags") {
        flags_at = launch.arguments.at(1).integer;
        EXPECT_EQ(*flags_at + 4 * launch.arguments.at(2).integer, plan.workspace_bytes);
        ++with_flags;
      }
      ASSERT_TRUE(line.starts_with(launch_start(launch))) << line << "\n" << launch_start(launch);
      const bool waits = line.find(" co-resident") != std::string::npos;
      together += waits ? 1 : 0;
      std::istringstream words(
          line.substr(launch_start(launch).size() + (waits ? std::string(" co-resident").size() : 0)));
      bool passes_flags = false;
      for (const KernelArgument& argument : launch.arguments) {
        std::string word;
        words >> word;
        switch (argument.kind) {
          case ArgumentKind::kPointer:
            EXPECT_EQ(word, fmt::format("{:#x}", address_of(argument.operand, entry.problem)));
            break;
          case ArgumentKind::kTensorMap: {
            const TensorMapPlan& map = plan.tensor_maps[static_cast<std::size_t>(argument.integer)];
            EXPECT_EQ(word, fmt::format("map({:#x}", address_of(map.operand, entry.problem)));
            std::string rest;
            std::getline(words, rest, ')');
            EXPECT_THAT(rest, testing::HasSubstr(fmt::format(" dims {}", map.dims[0])));
            break;
          }
          case ArgumentKind::kInt32:
          case ArgumentKind::kInt64:
            EXPECT_EQ(word, std::to_string(argument.integer));
            passes_flags = passes_flags || argument.integer == flags_at;
            break;
          case ArgumentKind::kFloat32:
            EXPECT_EQ(word.back(), 'f');
            break;
        }
      }
      // A kernel that waits for flags finds them where they were zeroed.
      EXPECT_TRUE(!waits || passes_flags) << line;
    }
    EXPECT_EQ(kernel, plan.kernels.size());
  }
  EXPECT_GT(with_flags, 10);
  EXPECT_GT(together, 10);
}

TEST_F(ExportedCalls, SixteenThreadsRaceTheFirstCall) {
  ASSERT_TRUE(folder_->compile("c++ -std=c++17 -g -fsanitize=thread", kPrograms + "threads.cpp", "threads"));
  std::string output;
  EXPECT_EQ(folder_->run(kWithFake + "./threads", &output), 0) << output;
}

/// Another export for the same program.
std::string other_header() {
  CallableHeader other = sample_export(3);
  other.name_space = "other_gemm";
  return write_callable_header(other);
}

TEST(ExportedHeaders, ShareNothingWithOthersAndEverythingBetweenUnits) {
  CallableHeader content = sample_export(5);
  content.images.front().bytes.resize(100'000);  // no compiler remarks on what takes a long literal
  const ExportFolder folder(write_callable_header(content));
  folder.write("other_gemm.hpp", other_header());
  for (const std::string compiler : {"g++", have("clang++-14") ? "clang++-14" : "clang++"}) {
    if (!have(compiler)) continue;
    for (const char* standard : {"17", "20"}) {
      const std::string sources = kPrograms + "unit_one.cpp " + kPrograms + "unit_two.cpp";
      ASSERT_TRUE(folder.compile(compiler + " -std=c++" + standard + " -fno-exceptions -fno-rtti", sources, "units"))
          << compiler << standard;
      EXPECT_EQ(folder.run(kWithFake + "./units"), 0) << compiler << standard;
      // No code runs before main() on its account.
      std::string symbols;
      EXPECT_EQ(folder.run("nm -C units", &symbols), 0);
      EXPECT_THAT(symbols, testing::Not(testing::HasSubstr("GLOBAL__sub_I")));
    }
  }
}

/// As Xlib.h, windows.h, CUDA's samples and programs define them.
constexpr const char* kForeignMacros = R"(
#define Status int
#define Bool int
#define None 0L
#define True 1
#define False 0
#define Always 2
#define Success 0
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define near
#define far
#define small char
#define interface struct
#define ERROR 0
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define checkCudaErrors(val) check((val), #val, __FILE__, __LINE__)
#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))
#define M 1024
#define N 1024
#define K 1024
#define BM 128
#define BK 8
)";

TEST(ExportedHeaders, CompileBehindOtherPeoplesMacrosAndLeaveThem) {
  CallableHeader content = sample_export(5);
  add_operations(content, "softmax");
  const ExportFolder folder(write_callable_header(content));
  folder.write("macros.h", kForeignMacros);
  folder.write("unit.cpp",
               "#include \"macros.h\"\n#include \"best_gemm.hpp\"\n"
               "static_assert(None == 0 && CEIL_DIV(M, 512) == 2 && BM == 128 && True, \"as they were\");\n"
               "int main() {\n  Status plain = 0;\n"
               "  const best_gemm::StatusCode code = best_gemm::prepare(-1);\n"
               "  return plain + (code == best_gemm::StatusCode::invalid_argument ? 0 : 1);\n}\n");
  for (const char* standard : {"gnu++17", "c++20"}) {
    ASSERT_TRUE(folder.compile(fmt::format("c++ -std={}", standard), "unit.cpp", "unit")) << standard;
    EXPECT_EQ(folder.run(kWithFake + "./unit"), 0);
  }
  folder.write("with_x11.cpp", "#include <X11/Xlib.h>\n#include \"best_gemm.hpp\"\nint main() {}\n");
  if (std::filesystem::exists("/usr/include/X11/Xlib.h")) {
    EXPECT_TRUE(folder.compile("c++ -std=c++17 -c", "with_x11.cpp", "with_x11.o"));
  }
}

TEST(ExportedHeaders, CompileWithTheirCublasLtFallback) {
  if (!std::filesystem::exists(PGTUNE_CUDA_INCLUDE "/cublasLt.h")) GTEST_SKIP() << "no cublasLt.h";
  const ExportFolder folder(write_callable_header(sample_export(5)));
  folder.write("unit.cpp",
               "#define PGTUNE_CUBLASLT_FALLBACK\n#include \"best_gemm.hpp\"\n"
               "best_gemm::Policy policy(void* handle);\n"
               "best_gemm::Policy policy(void* handle) {\n  best_gemm::Policy out;\n"
               "  out.fallback = best_gemm::cublaslt_fallback;\n  out.user = handle;\n  return out;\n}\n");
  EXPECT_TRUE(folder.compile("c++ -std=c++17 -c", "unit.cpp", "unit.o"));
}

TEST(ExportedHeaders, CompileWithNvcc) {
  if (!have("nvcc")) GTEST_SKIP() << "no working nvcc on PATH";
  CallableHeader content = sample_export(5);
  add_operations(content, "rmsnorm");
  const ExportFolder folder(write_callable_header(content));
  folder.write("unit.cu", "#include \"best_gemm.hpp\"\nint main() { return 0; }\n");
  for (const char* standard : {"17", "20"}) {
    std::string output;
    EXPECT_EQ(
        folder.run(fmt::format("nvcc -std=c++{} -Werror all-warnings -I. -c unit.cu -o unit.o", standard), &output), 0)
        << output;
  }
}

TEST(ExportedHeaders, AreTheSameForTheSameContentAndNamedAfterIt) {
  const std::string one = write_callable_header(sample_export(4));
  EXPECT_EQ(one, write_callable_header(sample_export(4)));
  const auto hash_of = [](const std::string& text) { return text.substr(text.find("inline namespace h"), 31); };
  EXPECT_NE(hash_of(one), hash_of(write_callable_header(sample_export(5))));
  EXPECT_THAT(one, testing::StartsWith("// SPDX-License-Identifier: MIT\n"));
}

TEST(ExportedHeaders, NeedNothingOfPgtune) {
  const std::string text = write_callable_header(sample_export(4));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("\n#include \"")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("pgtune_export")));
}

}  // namespace
}  // namespace pgtune::tool::test
