// SPDX-License-Identifier: MIT
// Exported operations: what programs call, and that the generated functions refuse and launch exactly what the
// interpreter does.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "tests/exported/plan_text.hpp"
#include "tests/exported/sample_operations.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/export/callable_package.hpp"
#include "tool/pgtune/export/coverage.hpp"
#include "tool/pgtune/export/export_sources.hpp"
#include "tuner/template/builtin_names.hpp"

namespace pgtune::tool::test {
namespace {

/// With neighbours that lose little for one operation.
CallableHeader export_with_losses() {
  CallableHeader content = sample_operations();
  content.losses.push_back({Dtype::kBf16, true, 0.5, 20, 12, 0.012, 0.05, "transpose"});
  return content;
}

TEST(ExportedOperations, EveryScenarioHolds) {
  const ExportFolder folder("");
  folder.write("best.hpp", write_callable_header(export_with_losses()));
  ASSERT_TRUE(folder.compile("c++ -std=c++17 -g -fsanitize=address,undefined -fno-sanitize-recover=all",
                             kPrograms + "operations.cpp", "operations"));
  for (const char* scenario :
       {"types", "calls", "pointers", "dispatch", "shapes", "wrong_arguments", "other_device", "wrong_device"}) {
    std::string output;
    EXPECT_EQ(folder.run("ASAN_OPTIONS=detect_leaks=0 " + kWithFake + "./operations " + scenario, &output), 0)
        << scenario << "\n"
        << output;
  }
}

/// Of a problem the sizes, some of them other ones.
std::vector<std::int64_t> random_sizes(const Problem& problem, std::mt19937& random) {
  const auto one_of = [&](auto count) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(count)); };
  std::vector<std::int64_t> sizes;
  for (const NamedValue& size : problem.operation->sizes) {
    sizes.push_back(size.value);
    if (one_of(3) == 0) sizes.back() = std::max<std::int64_t>(1, size.value * (1 + one_of(4)) / (1 + one_of(4)));
    if (one_of(3) == 0) sizes.back() += one_of(2) == 0 ? 1 : 8;
    if (one_of(8) == 0) sizes.back() = 1 + one_of(70000);
  }
  return sizes;
}

TEST(ExportedOperations, PlanWhatTheInterpreterPlansForTunedAndRandomSizes) {
  const CallableHeader content = sample_operations();
  const std::vector<Problem> kinds = kinds_of(content);
  std::string names, lines, expected;
  for (const Problem& kind : kinds) names += fmt::format("ANSWER({})\n", kind_name(kind));
  std::mt19937 random(42);
  int launched = 0, refused = 0, impossible = 0;
  const auto ask = [&](std::size_t variant_number, const Problem& like, const std::vector<std::int64_t>& sizes) {
    const ExportedVariant& variant = content.variants[variant_number];
    const auto problem = sized(content, like, sizes);
    std::string answer = "no problem\n";
    if (problem && !problem->is_of_kind(variant.problem)) answer = "refused\n";
    if (problem && problem->is_of_kind(variant.problem))
      answer = plan_text(content.templates[variant.template_number], variant, *problem);
    ++(answer == "no problem\n" ? impossible : answer == "refused\n" ? refused : launched);
    expected += answer;
    lines +=
        fmt::format("{} {} {} {}\n", kind_number(kinds, like), variant_number, sizes.size(), fmt::join(sizes, " "));
  };
  for (const ExportedEntry& entry : content.entries) {
    std::vector<std::int64_t> sizes;
    for (const NamedValue& size : entry.problem.operation->sizes) sizes.push_back(size.value);
    ask(entry.variant, entry.problem, sizes);
  }
  EXPECT_EQ(launched, static_cast<int>(content.entries.size()));
  for (int i = 0; i < 3000; ++i) {
    const std::size_t variant = random() % content.variants.size();
    const Problem& like = random() % 16 == 0 ? kinds[random() % kinds.size()] : content.variants[variant].problem;
    ask(variant, like, random_sizes(like, random));
  }
  EXPECT_GT(launched, 500);
  EXPECT_GT(refused, 500);
  EXPECT_GT(impossible, 10);
  const ExportFolder folder("");
  folder.write("best.hpp", write_callable_header(content));
  folder.write("kinds.inc", names);
  ASSERT_TRUE(folder.compile("c++ -std=c++17", kPrograms + "operation_plans.cpp", "plans"));
  folder.write("questions", lines);
  std::string output;
  ASSERT_EQ(folder.run("./plans < questions", &output), 0);
  std::istringstream wanted(expected), got(output), asked(lines);
  for (std::string one, other; std::getline(wanted, one);) {
    std::getline(got, other);
    ASSERT_EQ(other, one) << "of\n" << lines;
  }
}

TEST(ExportedOperations, ShareAHeaderWithGemmsBesideCudasOwnTypes) {
  CallableHeader content = sample_export(4);
  add_operations(content, "transpose");
  const ExportFolder folder(write_callable_header(content));
  const std::string unit =
      "#include \"best_gemm.hpp\"\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\nusing namespace best_gemm;\n"
      "int main() {\n  int gemms = 0, sizes = 0;\n  entries(&gemms);\n  transpose_bf16::tuned(&sizes);\n"
      "  return gemms == 4 && sizes >= 4 && Gemm::prepare(0) == Status::ok ? 0 : 1;\n}\n";
  folder.write("unit.cpp", unit);
  ASSERT_TRUE(folder.compile("c++ -std=c++17", "unit.cpp", "unit"));
  EXPECT_EQ(folder.run(kWithFake + "./unit"), 0);
  // What --verify calls finds each entry under the number that the request has.
  add_operations(content, "rmsnorm");
  for (std::size_t i = 0; i < content.entries.size(); ++i) {
    EXPECT_EQ(program_number(content, i), i);
    content.entries[i].problem.beta = 0;  // the program passes no other
  }
  folder.write("best_gemm.hpp", write_callable_header(content));
  folder.write("consumer.cpp", package_text(content, "consumer.cpp"));
  ASSERT_TRUE(folder.compile("c++ -std=c++17", "consumer.cpp " + kPrograms + "consumer.cpp", "consumer"));
  std::string output;
  EXPECT_EQ(folder.run(fmt::format("{} ./consumer {}", kWithFake, content.entries.size()), &output), 0) << output;
}

TEST(ExportedOperations, AreCalledFromC) {
  const ExportFolder folder("");
  CallableHeader content = sample_operations();
  content.entries.clear(), content.variants.clear(), content.images.clear();
  content.operations.clear(), content.templates.clear();
  add_operations(content, "softmax");
  add_operations(content, "reduction");
  for (const PackageFile& file : write_package(content)) {
    std::filesystem::create_directories((folder.path() / file.path).parent_path());
    folder.write(file.path, file.text);
    for (const char* absent : {"PGTUNE_OPERATIONS", "PGTUNE_GEMMS", "Gemm"})
      EXPECT_EQ(file.text.find(absent), std::string::npos) << file.path << " has " << absent;
  }
  EXPECT_NE(
      package_text(content, "interface.h").find("softmax_bf16: sizes M, N; buffers X (in, bf16), Y (out, bf16)\n"),
      std::string::npos);
  std::string output;
  ASSERT_EQ(
      folder.run(
          fmt::format("cc -std=c99 -Wall -Wextra -Wpedantic -Werror -Iinclude -c {}operations.c -o calls.o", kPrograms),
          &output),
      0)
      << output;
  ASSERT_TRUE(folder.compile("c++ -std=c++17 -g -fsanitize=address,undefined -Iinclude",
                             "src/best.cpp src/best_c.cpp calls.o '" PGTUNE_FAKE_CUDA_FOLDER "/libcuda.so.1'",
                             "calls"));
  EXPECT_EQ(folder.run("ASAN_OPTIONS=detect_leaks=0 " + kWithFake + "./calls", &output), 0) << output;
  // And from Python, as examples/pytorch does.
  if (!have("python3")) return;
  ASSERT_TRUE(folder.compile("c++ -std=c++17 -fPIC -shared -Iinclude", "src/best.cpp src/best_c.cpp", "libbest.so"));
  EXPECT_EQ(folder.run(kWithFake + "python3 -B " + kPrograms +
                           "operation.py " PGTUNE_SOURCE_DIR "/examples/pytorch ./libbest.so",
                       &output),
            0)
      << output;
}

constexpr const char* kAwkward = R"json({
  "schema": 1, "name": "text", "dimensions": [{"name": "new"}], "scalars": [{"name": "float", "value": 2}],
  "buffers": [
    {"name": "class", "type": "f32", "role": "in", "extents": ["new"]},
    {"name": "int", "type": "f32", "role": "out", "extents": ["new"], "error": {"rule": "exact"}}],
  "reference": {"source": "r.cu", "kernels": [{"symbol": "r", "grid": ["1"], "block": ["1"], "arguments": [{"value": "int"}]}]},
  "flops": "new", "bytes": "8 * new", "unit": "GB/s"})json";
constexpr const char* kAwkwardTemplate = R"json({
  "schema": 1, "name": "copies", "operation": "text", "source": "t.cu",
  "parameters": [{"name": "THREADS", "values": [64], "default": 64}],
  "kernels": [{"symbol": "copies", "grid": ["new"], "block": ["THREADS"],
    "arguments": [{"pointer": "class"}, {"pointer": "int"}, {"float32": "float"}, {"int64": "new"}]}]})json";

/// Names that C++ or the header itself has, and beside it a template and an operation that no kernel is left of.
TEST(ExportedOperations, MayBeCalledAnything) {
  const auto read = [](const std::string&) -> Result<std::string> { return ""; };
  CallableHeader content = sample_export(1);
  content.operations.push_back(operation::parse_operation(kAwkward, "o.json", read).value());
  const space::OperationInterface interface = content.operations.back().interface();
  const auto definition = space::parse_template(kAwkwardTemplate, "t.json", read, &interface).value();
  const Problem problem = operation::make_problem(content.operations.back(), {{"new", 64}}, {}).value();
  add_sample(content, definition, definition.default_variant(), problem);
  add_operations(content, "softmax");
  const auto of_others = [](const auto& each) {
    return !each.problem.operation || each.problem.operation->name != "text";
  };
  std::erase_if(content.entries, of_others);
  const std::size_t kept = content.entries.back().variant;
  content.variants = {content.variants[kept]};
  content.images = {content.images[content.variants.front().image]};
  content.variants.front().image = content.entries.back().variant = 0;
  drop_unused_sources(content);
  EXPECT_EQ(content.templates.size(), 1U);
  EXPECT_EQ(content.operations.size(), 1U);
  const ExportFolder folder(write_callable_header(content));
  folder.write(
      "unit.cpp",
      "#include \"best_gemm.hpp\"\nint main() {\n  best_gemm::text_ call;\n  best_gemm::text_::Operands o;\n"
      "  o.class_ = o.int_ = nullptr;\n  return o.float_ == 2 && best_gemm::text_::select({64}, o, 0, {}, call) ==\n"
      "      best_gemm::Status::not_prepared && best_gemm::text_::select({64}, o, 64, {}, call) ==\n"
      "      best_gemm::Status::invalid_argument ? 0 : 1;\n}\n");
  ASSERT_TRUE(folder.compile("c++ -std=c++17", "unit.cpp", "unit"));
  EXPECT_EQ(folder.run(kWithFake + "./unit"), 0);
}

TEST(ExportedOperations, CoverageTellsHowSizesAreServed) {
  CallableHeader content = sample_export(1);
  add_operations(content, "transpose");
  content.losses.push_back({Dtype::kBf16, true, 0.5, 20, 12, 0.012, 0.05, "transpose"});
  const ExportFolder folder("");
  folder.write("sizes", "M=1024,N=1024 # tuned\nM=1096,N=1024\nM=1,N=8\n");
  const auto problems = problems_of_sizes(content, (folder.path() / "sizes").string());
  EXPECT_EQ(problems.size(), 3 * operation_kinds(content).size());
  const std::string text = coverage_text(content, problems, Terminal(process_environment));
  for (const char* row :
       {"bf16 M=1024,N=1024 +exact +0 %", "bf16 M=1096,N=1024 +neighbour +1.2 % +transpose bf16 M=1024,N=1024",
        "f32 M=1096,N=1024 +fallback", "bf16 M=1,N=8 +fallback"})
    EXPECT_THAT(text, testing::ContainsRegex(row));
  folder.write("sizes", "M=1024,N=1024\nM=8\n");
  EXPECT_THAT([&] { static_cast<void>(problems_of_sizes(content, (folder.path() / "sizes").string())); },
              testing::ThrowsMessage<CommandError>(
                  testing::AllOf(testing::HasSubstr("sizes:2"), testing::HasSubstr("needs a size N"))));
}

/// Templates may use any of them, and a header of one that does has to compile.
TEST(ExportedOperations, HaveEveryNameThatATemplateMayUse) {
  const CallableHeader content = sample_operations();
  const std::string text = write_callable_header(content);
  for (const operation::OperationDefinition& definition : content.operations) {
    for (const std::string& name : definition.interface().names)
      EXPECT_NE(text.find("f.v_" + name + " = "), std::string::npos) << definition.name << " " << name;
  }
  EXPECT_EQ(text.find("pgtune_export"), std::string::npos);
}

}  // namespace
}  // namespace pgtune::tool::test
