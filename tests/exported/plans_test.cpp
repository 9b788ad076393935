// SPDX-License-Identifier: MIT
// The functions generated from a template's expressions refuse and launch exactly what the interpreter does.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "tests/exported/plan_text.hpp"
#include "tests/exported/sample_export.hpp"
#include "tool/pgtune/export/template_code.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/estimate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/builtin_names.hpp"

namespace pgtune::tool::test {
namespace {

/// What programs/plans.cpp is asked.
struct Question {
  std::size_t variant = 0;
  Problem problem;
};

std::string expected_text(const CallableHeader& content, const Question& question) {
  const ExportedVariant& variant = content.variants[question.variant];
  const space::TemplateDefinition& definition = content.templates[variant.template_number];
  const Problem& p = question.problem;
  const bool same_types = p.dtype == variant.problem.dtype && p.type_of_c() == variant.problem.type_of_c() &&
                          p.epilogue == variant.problem.epilogue;
  return same_types ? plan_text(definition, variant, p) : "refused\n";
}

std::string line_of(const Question& question) {
  const Problem& p = question.problem;
  const int layout = (p.trans_a ? 2 : 0) + (p.trans_b ? 1 : 0);
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {}\n", question.variant, static_cast<int>(p.dtype),
                     layout, p.m, p.n, p.k, p.batch, p.lda, p.ldb, p.ldc, p.alpha, p.beta,
                     static_cast<int>(p.type_of_c()) + 1, p.epilogue.bias ? 1 : 0,
                     static_cast<int>(p.epilogue.activation));
}

/// Problems near those tuned, with odd extents, leading dimensions, batches and scalars.
Question random_question(const CallableHeader& content, std::mt19937& random) {
  const auto one_of = [&](auto count) { return random() % static_cast<unsigned>(count); };
  Question out{one_of(content.variants.size()), {}};
  Problem& p = out.problem;
  p = one_of(4) == 0 ? content.variants[one_of(content.variants.size())].problem
                     : content.variants[out.variant].problem;
  const auto vary = [&](std::int64_t& extent) {
    if (one_of(3) == 0) extent = std::max<std::int64_t>(1, extent * (1 + one_of(4)) / (1 + one_of(4)));
    if (one_of(3) == 0) extent += one_of(2) == 0 ? 1 : 8;
  };
  vary(p.m);
  vary(p.n);
  vary(p.k);
  if (one_of(8) == 0) p.batch = 1 + one_of(70000);
  if (one_of(8) == 0) p.trans_a = !p.trans_a;
  if (one_of(8) == 0) p.trans_b = !p.trans_b;
  p.lda = p.columns_a() + (one_of(3) == 0 ? one_of(20) : 0);
  p.ldb = p.columns_b() + (one_of(3) == 0 ? one_of(20) : 0);
  p.ldc = p.n + (one_of(3) == 0 ? one_of(20) : 0);
  if (one_of(4) == 0) p.beta = static_cast<double>(one_of(3));
  if (one_of(4) == 0) p.alpha = 2;
  if (one_of(16) == 0) p.m = std::int64_t{1} << (20 + one_of(20));
  return out;
}

TEST(ExportedPlans, AreTheInterpretersForEveryRecordedWinnerAndRandomProblems) {
  const CallableHeader content = sample_export();
  ASSERT_GT(content.entries.size(), 200U);
  std::vector<Question> questions;
  for (const ExportedEntry& entry : content.entries) questions.push_back({entry.variant, entry.problem});
  std::mt19937 random(42);
  while (questions.size() < 6000) {
    Question next = random_question(content, random);
    if (with_default_strides(next.problem)) questions.push_back(std::move(next));
  }
  const ExportFolder folder(write_callable_header(content));
  ASSERT_TRUE(folder.compile("c++ -std=c++17 -O1", PGTUNE_SOURCE_DIR "/tests/exported/programs/plans.cpp", "plans"));
  std::string lines;
  for (const Question& question : questions) lines += line_of(question);
  folder.write("questions", lines);
  std::string output;
  ASSERT_EQ(folder.run("./plans < questions", &output), 0);
  std::istringstream answers(output);
  int launched = 0, refused = 0;
  for (const Question& question : questions) {
    std::istringstream expected(expected_text(content, question));
    for (std::string wanted, got; std::getline(expected, wanted);) {
      std::getline(answers, got);
      ++(wanted == "refused" ? refused : launched);
      ASSERT_EQ(got, wanted) << content.variants[question.variant].variant.id() << "\n" << question.problem.key();
    }
  }
  EXPECT_GT(launched, 1000);
  EXPECT_GT(refused, 1000);
  EXPECT_EQ(answers.get(), std::char_traits<char>::eof());
}

/// Templates may use any of them, and a header of one that does has to compile.
TEST(ExportedPlans, KnowEveryNameThatAnExpressionMayUse) {
  const std::string text = write_callable_header(sample_export(1));
  for (const auto* names : {&space::device_names(), &space::problem_names()}) {
    for (const std::string& name : *names) EXPECT_NE(text.find("f.v_" + name + " = "), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace pgtune::tool::test
