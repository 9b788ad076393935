// SPDX-License-Identifier: MIT
// An operation and sizes become a problem of plain numbers, which has a key of its own and survives JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/operations/sample_operation.hpp"
#include "tuner/model/json.hpp"
#include "tuner/model/rounding.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::operation {
namespace {

using testing::counting_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::json;
using testing::residual_json;
using testing::sample_json;

Result<Problem> problem_of(const json& document, std::string_view sizes, std::optional<Dtype> dtype = std::nullopt) {
  const auto definition = testing::parse(document);
  if (!definition) return tl::unexpected<Error>(definition.error());
  const auto parsed = parse_sizes(sizes);
  if (!parsed) return tl::unexpected<Error>(parsed.error());
  return make_problem(*definition, *parsed, dtype);
}

Problem sample(std::string_view sizes = "M=6,N=10", std::optional<Dtype> dtype = std::nullopt) {
  return problem_of(sample_json(), sizes, dtype).value();
}

TEST(OperationProblem, HasBuffersOfPlainNumbers) {
  const Problem problem = sample();
  const OperationBuffer& x = problem.operation->buffers[0];
  EXPECT_EQ(x.type, ElementType::kBfloat16);
  EXPECT_THAT(x.extents, ElementsAre(6, 10));
  EXPECT_THAT(x.strides, ElementsAre(16, 1));
  EXPECT_EQ(x.elements(), 60);
  EXPECT_EQ(x.stored_elements(), 5 * 16 + 10);
  EXPECT_THAT(problem.operation->buffers[2].strides, ElementsAre(10, 1));
  EXPECT_EQ(problem.operation->buffers[3].second, 5);
  EXPECT_EQ(problem.flops(), 120);
  EXPECT_EQ(problem.traffic_bytes(), 60 * 12);
  EXPECT_EQ(problem.operation->reference[0].grid.x, 6);
  EXPECT_EQ(problem.operation->reference[0].arguments[5].real, 0.5);
}

TEST(OperationCounts, AreWorthWhatTheExpressionsSay) {
  const Problem problem = problem_of(counting_json(), "M=6,N=10").value();
  const std::vector<OperationCount>& counts = problem.operation->counts;
  ASSERT_EQ(counts.size(), 2);
  EXPECT_EQ(counts[0].flops, 20);
  EXPECT_EQ(counts[0].bytes, 14);
  EXPECT_EQ(counts[1].flops, 0);
  EXPECT_EQ(counts[1].bytes, -16);
  EXPECT_EQ(counts[1].bound, 3);
  EXPECT_EQ(counts[1].buffer, 3);
  EXPECT_EQ(problem.flops(), 2 * 15 * 10 + 5) << "as expected, before there is data";
  EXPECT_EQ(problem.traffic_bytes(), 15 * 14 - 2 * 16 + 800);
}

TEST(OperationCounts, WhatWasCountedChangesFiguresAndNotTheProblem) {
  const Problem problem = problem_of(counting_json(), "M=6,N=10").value();
  const Problem counted = with_counts(problem, {{"L", 1.5}, {"T", 20}, {"other", 7}});
  EXPECT_EQ(counted.flops(), 2 * 20 * 10 + 5);
  EXPECT_EQ(counted.traffic_bytes(), 20 * 14 - 24 + 800);
  EXPECT_DOUBLE_EQ(counted.speed(1e-6), counted.traffic_bytes() / 1e3);
  EXPECT_EQ(counted, problem);
  EXPECT_EQ(counted.key(), problem.key());
  const auto back = nlohmann::json(counted).get<Problem>();
  EXPECT_EQ(back.flops(), counted.flops());
  EXPECT_EQ(with_counts(problem, {}).flops(), problem.flops());
  const Problem gemm = parse_shape("2x3x5").value();
  EXPECT_EQ(with_counts(gemm, {{"T", 1}}).flops(), gemm.flops());
}

TEST(OperationCounts, RefuseWhatCannotBe) {
  const auto refusal = [](const json& document) { return problem_of(document, "M=6,N=10").error().text(); };
  EXPECT_THAT(refusal(counting_json("T - 16")), HasSubstr("flops are not negative and bytes at least 1"));
  EXPECT_THAT(refusal(counting_json("T", "T - 15")), HasSubstr("here they are 15 and 0, with T 15 and L 2"));
  json many = counting_json();
  many["counts"][1]["expected"] = "M + 1";
  EXPECT_THAT(refusal(many), HasSubstr("count L: 7 are expected, but I has 6 elements"));
  many["counts"][1]["expected"] = "1 / (N - 10)";
  EXPECT_THAT(refusal(many), HasSubstr("count 'L'.expected"));
  EXPECT_THAT(refusal(counting_json("T * 4611686018427387904 + 4611686018427387904")), HasSubstr("flops"));
}

TEST(OperationCounts, AreCheckedWhereAProblemComesFromElsewhere) {
  const OperationProblem sound = *problem_of(counting_json(), "M=6,N=10")->operation;
  const auto refusal = [&](const auto& change) {
    OperationProblem problem = sound;
    change(problem.counts[0]);
    const auto checked = check_operation_problem(problem);
    return checked ? std::string("accepted") : checked.error().text();
  };
  EXPECT_EQ(refusal([](OperationCount&) {}), "accepted");
  EXPECT_THAT(refusal([](OperationCount& count) { count.buffer = 7; }), HasSubstr("no such buffer"));
  EXPECT_THAT(refusal([](OperationCount& count) { count.buffer = -1; }), HasSubstr("no such buffer"));
  EXPECT_THAT(refusal([](OperationCount& count) { count.buffer = 4; }), HasSubstr("Z is no input of whole numbers"));
  EXPECT_THAT(refusal([](OperationCount& count) { count.name = "a b"; }), HasSubstr("count's name"));
  EXPECT_THAT(refusal([](OperationCount& count) { count.value = INFINITY; }), HasSubstr("not finite"));
  EXPECT_THAT(refusal([](OperationCount& count) {
                count.kind = CountKind::kIncreases;
                count.buffer = 2;
              }),
              HasSubstr("several dimensions"));
  EXPECT_THAT(refusal([](OperationCount& count) { count.value = -1000; }), HasSubstr("with T -1000 and L 2"));
  OperationProblem many = sound;
  many.counts.resize(kMaxCounts + 1, sound.counts[0]);
  EXPECT_THAT(check_operation_problem(many).error().text(), HasSubstr("at most 16 counts, not 17"));
}

TEST(OperationProblem, NamesForTemplatesComeInTheInterfacesOrder) {
  const Problem problem = sample();
  std::vector<std::string> names;
  for (const NamedValue& value : problem.operation->values) names.push_back(value.name);
  EXPECT_EQ(names, testing::parse(sample_json())->interface().names);
}

TEST(OperationProblem, AlignmentIsThatOfEveryRow) {
  const auto value = [](const Problem& problem, std::string_view name) {
    for (const NamedValue& entry : problem.operation->values)
      if (entry.name == name) return entry.value;
    return std::int64_t{-1};
  };
  EXPECT_EQ(value(sample(), "ALIGN_X"), 32);  // rows 16 elements of bf16 apart
  EXPECT_EQ(value(sample("M=6,N=10", Dtype::kF32), "ALIGN_X"), 64);
  EXPECT_EQ(value(sample(), "ALIGN_Q"), 2);
  EXPECT_EQ(value(sample(), "ALIGN_I"), 16);             // as declared
  EXPECT_EQ(value(sample("M=1,N=10"), "ALIGN_X"), 256);  // there is one row
}

TEST(OperationProblem, ErrorsFollowFromTheirRules) {
  const Problem problem = sample();
  const OperationProblem& operation = *problem.operation;
  EXPECT_EQ(operation.buffers[4].error.per_scale, summation_bound(11, 0x1p-24));
  EXPECT_EQ(operation.buffers[5].error.per_result, 2 * 0x1p-7);
  json sums = sample_json();
  const auto bound_of = [&](const json& error, Dtype dtype) {
    sums["buffers"][4]["error"] = error;
    return problem_of(sums, "M=1,N=2000", dtype).value().operation->buffers[4].error.per_scale;
  };
  const json in_bf16 = {{"rule", "sum"}, {"terms", "N"}, {"arithmetic", "bf16"}};
  EXPECT_EQ(bound_of(in_bf16, Dtype::kF32), summation_bound(2000, 0x1p-23)) << "tensor cores truncate";
  const json in_own = {{"rule", "sum"}, {"terms", "N"}, {"arithmetic", "dtype"}};
  EXPECT_EQ(bound_of(in_own, Dtype::kF32), summation_bound(2000, 0x1p-24));
  EXPECT_EQ(bound_of(in_own, Dtype::kBf16), summation_bound(2000, 0x1p-23));
  EXPECT_EQ(bound_of({{"rule", "sum"}, {"terms", "M"}}, Dtype::kF32), summation_bound(1, 0x1p-24));
  json blocked = {{"rule", "blocked"}, {"terms", "N"}, {"arithmetic", "e4m3"}, {"block", 128}};
  EXPECT_EQ(bound_of(blocked, Dtype::kF32), sum_error(Dtype::kE4m3, 128, 0) + summation_bound(16, 0x1p-24, 6));
  blocked["block"] = 1;
  EXPECT_EQ(bound_of(blocked, Dtype::kF32), sum_error(Dtype::kE4m3, 1, 0) + summation_bound(2000, 0x1p-24, 6));
  json exact = sample_json();
  exact["buffers"][5]["error"] = {{"rule", "exact"}};
  const ToleratedError none = problem_of(exact, "M=1,N=2").value().operation->buffers[5].error;
  EXPECT_EQ(none.per_result, 0);
  EXPECT_EQ(none.per_scale, 0);
  EXPECT_LT(none.absolute, 1e-290);
}

TEST(OperationProblem, ResidualsAreBoundedInRoundoffsOfTheirOutput) {
  const auto error_of = [](const json& document, Dtype dtype) {
    return problem_of(document, "M=6,N=10", dtype).value().operation->buffers[5].error;
  };
  json document = residual_json();
  EXPECT_EQ(error_of(document, Dtype::kF32).per_scale, 40 * 0x1p-24);
  EXPECT_EQ(error_of(document, Dtype::kBf16).per_scale, 40 * 0x1p-8);
  EXPECT_TRUE(error_of(document, Dtype::kBf16).of_residual);
  EXPECT_EQ(error_of(document, Dtype::kBf16).per_result, 0);
  EXPECT_LT(error_of(document, Dtype::kBf16).absolute, 1e-290);
  EXPECT_FALSE(error_of(sample_json(), Dtype::kF32).of_residual);
  document["buffers"][5]["type"] = "int32";
  EXPECT_EQ(error_of(document, Dtype::kF32).per_scale, 0) << "whole numbers are right or wrong";
  document["buffers"][5]["error"]["factor"] = "N - 10";
  const auto refused = problem_of(document, "M=6,N=10", Dtype::kF32);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("a residual may be at least one roundoff, not 0"));
}

TEST(OperationProblem, PassesThatAreGivenAResultWriteResidualsAlone) {
  OperationProblem operation = *problem_of(residual_json(), "M=6,N=10", Dtype::kF32).value().operation;
  EXPECT_TRUE(operation.has_residuals());
  EXPECT_TRUE(check_operation_problem(operation));
  operation.reference[1].arguments[1].integer = 4;  // Z
  EXPECT_FALSE(check_operation_problem(operation));
  operation.reference[1].arguments[1].integer = 5;
  operation.buffers[2].kernel->arguments[2] = {ReferenceArgumentKind::kResult, 5, 0};
  EXPECT_FALSE(check_operation_problem(operation)) << "a fill";
}

TEST(OperationProblem, KnowsWhichErrorsAreTolerances) {
  json document = sample_json();
  document["buffers"][5]["error"] = {{"rule", "allclose"}, {"relative", 0.01}, {"absolute", 0.001}};
  const Problem problem = problem_of(document, "M=6,N=10").value();
  EXPECT_EQ(problem.operation->buffers[5].error.per_result, 0.01);
  EXPECT_EQ(problem.operation->buffers[5].error.per_scale, 0.001);
  for (std::size_t i = 0; i < problem.operation->buffers.size(); ++i)
    EXPECT_EQ(problem.operation->buffers[i].tolerated, i == 5) << i;
  EXPECT_EQ(json(problem).get<Problem>(), problem);
  EXPECT_TRUE(json(problem).get<Problem>().operation->buffers[5].tolerated);
  const Problem derived = sample();
  for (const OperationBuffer& buffer : derived.operation->buffers) EXPECT_FALSE(buffer.tolerated) << buffer.name;
}

TEST(OperationProblem, SaysWhichOfItsSizesToLessen) {
  EXPECT_EQ(sample().what_to_lessen(), "smaller sizes (M, N)");
  EXPECT_EQ(parse_shape("8x8x8")->what_to_lessen(), "a smaller shape or batch");
}

TEST(OperationProblem, KeysTellOperationsSizesAndDtypesApart) {
  const Problem problem = sample();
  EXPECT_EQ(problem.title(), "scale_rows bf16 M=6,N=10");
  EXPECT_EQ(problem.shape(), "M=6,N=10");
  EXPECT_EQ(problem.key(), "scale_rows bf16 M=6,N=10 " + problem.operation->content_hash);
  EXPECT_EQ(problem, sample("N=10,M=6"));
  EXPECT_NE(problem, sample("M=6,N=12"));
  EXPECT_NE(problem.key(), sample("M=6,N=10", Dtype::kF32).key());
  EXPECT_EQ(problem.speed_unit(), "GB/s");
  EXPECT_DOUBLE_EQ(problem.speed(1e-6), 60 * 12 / 1e-6 / 1e9);
}

TEST(OperationProblem, CasesFillInputsInAnotherWay) {
  json document = sample_json();
  document["cases"] = json::parse(R"json([
    {"name": "flat", "fills": [
      {"buffer": "X", "fill": {"constant": 2}}, {"buffer": "I", "fill": {"integers": ["0", "M / 2"]}},
      {"buffer": "Q", "fill": {"kernel": {"symbol": "flat", "grid": ["M"], "block": ["32"], "arguments": [{"buffer": "Q"}]}}}]},
    {"name": "as usual", "fills": [{"buffer": "X", "fill": "data"}]}])json");
  const Problem problem = problem_of(document, "M=6,N=10").value();
  const std::vector<FillCase>& cases = problem.operation->cases;
  ASSERT_EQ(cases.size(), 2);
  ASSERT_EQ(cases[0].fills.size(), 3);
  EXPECT_EQ(cases[0].name, "flat");
  EXPECT_EQ(cases[0].fills[0].fill, FillKind::kConstant);
  EXPECT_EQ(cases[0].fills[0].first, 2);
  EXPECT_EQ(cases[0].fills[1].buffer, 3);
  EXPECT_EQ(cases[0].fills[1].second, 3);
  EXPECT_EQ(cases[0].fills[2].kernel->symbol, "flat");
  EXPECT_EQ(cases[0].fills[2].kernel->grid.x, 6);
  EXPECT_EQ(cases[1].fills[0].fill, FillKind::kData);
  EXPECT_EQ(json(problem).get<Problem>(), problem);
  EXPECT_NE(problem.key(), sample().key());
  json spoilt = problem;
  spoilt["operation"]["cases"][0]["fills"][0]["buffer"] = 4;  // which launches change
  EXPECT_THROW(static_cast<void>(spoilt.get<Problem>()), json::exception);
}

TEST(OperationProblem, RefusesFillsThatAreNoNumbersOfTheirBuffer) {
  struct Fill {
    int buffer;
    const char *fill, *words;  ///< no words: it is right
  };
  for (const Fill& wrong :
       {Fill{0, R"({"constant": 1e39})", "1e+39 is beyond bf16"}, Fill{0, R"({"constant": 1e38})", ""},
        Fill{0, R"({"uniform": [1, 0]})", "no numbers lie between 1 and 0"}, Fill{0, R"({"uniform": [0, 0]})", ""},
        Fill{0, R"({"uniform": [-1e39, 0]})", "-1e+39 is beyond bf16"},
        Fill{0, R"({"normal": [0, -1]})", "a deviation of -1 is negative"},
        Fill{0, R"({"normal": [0, 1e38]})", "6e+38 is beyond bf16"}, Fill{0, R"({"normal": [0, 1e37]})", ""},
        Fill{3, R"({"constant": 2.5})", "2.5 is no whole number"}, Fill{3, R"({"constant": 16777216})", ""},
        Fill{3, R"({"constant": 16777218})", "beyond 2^24"},
        Fill{3, R"({"constant": 3000000000})", "is beyond int32"}}) {
    json document = sample_json();
    document["buffers"][wrong.buffer]["fill"] = json::parse(wrong.fill);
    const auto problem = problem_of(document, "M=6,N=10");
    if (*wrong.words == 0) {
      EXPECT_TRUE(problem) << wrong.fill << problem.error().text();
    } else {
      ASSERT_FALSE(problem) << wrong.fill;
      EXPECT_THAT(problem.error().text(), HasSubstr(wrong.words));
      EXPECT_EQ(problem.error().kind, ErrorKind::kUsage);
    }
  }
}

TEST(OperationProblem, SurvivesJson) {
  const Problem problem = sample();
  EXPECT_EQ(json(problem).get<Problem>(), problem);
  json spoilt = problem;
  spoilt["operation"]["buffers"][0]["strides"] = {1, 1};
  EXPECT_THROW(static_cast<void>(spoilt.get<Problem>()), json::exception);
  spoilt = problem;
  spoilt["operation"]["reference"][0]["arguments"][0]["integer"] = 99;
  EXPECT_THROW(static_cast<void>(spoilt.get<Problem>()), json::exception);
}

TEST(OperationProblem, EachNumberFromElsewhereIsChecked) {
  struct Wrong {
    const char* what;
    void (*change)(OperationProblem& problem);
  };
  using Kind = ReferenceArgumentKind;
  json document = sample_json();
  document["cases"] = json::parse(R"json([{"name": "flat", "fills": [{"buffer": "X", "fill": {"constant": 2}}]}])json");
  OperationProblem sound = *problem_of(document, "M=6,N=10").value().operation;
  sound.lesser = LesserResult{sound.reference, {{1, 0, 0}, {1, 0, 0}}};
  ASSERT_TRUE(check_operation_problem(sound)) << check_operation_problem(sound).error().text();
  const auto refuse = [&](const Wrong& wrong) {
    OperationProblem problem = sound;
    wrong.change(problem);
    const auto checked = check_operation_problem(problem);
    EXPECT_THAT(checked ? "accepted" : checked.error().text(), HasSubstr(wrong.what));
  };
  for (const Wrong& wrong : std::initializer_list<Wrong>{
           {"an operation's name", [](auto& p) { p.name = "a b"; }},
           {"1 to 16 buffers, not 0", [](auto& p) { p.buffers.clear(); }},
           {"1 to 16 buffers, not 17", [](auto& p) { p.buffers.resize(17); }},
           {"too large", [](auto& p) { p.sizes.resize(1025); }},
           {"too large", [](auto& p) { p.values.resize(1025); }},
           {"too large", [](auto& p) { p.scalars.resize(1025); }},
           {"too large", [](auto& p) { p.source.contents.resize((1 << 20) + 1); }},
           {"too large", [](auto& p) { p.source.headers.resize(kMaxHeaders + 1); }},
           {"'a b' cannot be a buffer's name", [](auto& p) { p.buffers[0].name = "a b"; }},
           {"1 to 4 extents", [](auto& p) { p.buffers[0].extents = p.buffers[0].strides = {}; }},
           {"1 to 4 extents",
            [](auto& p) {
              p.buffers[0].extents = p.buffers[0].strides = {1, 1, 1, 1, 1};
            }},
           {"1 to 4 extents", [](auto& p) { p.buffers[0].strides = {1}; }},
           {"must be at least 1", [](auto& p) { p.buffers[0].extents[0] = 0; }},
           {"must be at least 1", [](auto& p) { p.buffers[0].strides[0] = 0; }},
           {"sizes overflow", [](auto& p) { p.buffers[0].strides[0] = std::int64_t{1} << 62; }},
           {"sizes overflow", [](auto& p) { p.buffers[0].strides[0] = std::int64_t{1} << 46; }},
           {"no room of -1", [](auto& p) { p.buffers[0].room = -1; }},
           {"there is no room", [](auto& p) { p.buffers[0].room = (std::int64_t{1} << 48) + 1; }},
           {"not -1", [](auto& p) { p.buffers[0].stream = -1; }},
           {"have the numbers", [](auto& p) { p.buffers[0].stream = kFillStreams; }},
           {"may be absent", [](auto& p) { p.buffers[4].absent = true; }},
           {"power of two up to 256, not 0", [](auto& p) { p.buffers[0].alignment = 0; }},
           {"power of two up to 256, not 512", [](auto& p) { p.buffers[0].alignment = 512; }},
           {"power of two up to 256, not 24", [](auto& p) { p.buffers[0].alignment = 24; }},
           {"a kernel is what fills", [](auto& p) { p.buffers[2].kernel.reset(); }},
           {"a kernel is what fills", [](auto& p) { p.buffers[2].fill = FillKind::kData; }},
           {"addresses are what fills", [](auto& p) { p.buffers[0].fill = FillKind::kPointers; }},
           {"is not finite", [](auto& p) { p.buffers[0].second = INFINITY; }},
           {"no error is negative", [](auto& p) { p.buffers[5].error.per_scale = -1; }},
           {"no error is negative", [](auto& p) { p.buffers[5].error.per_result = -1; }},
           {"no error is negative", [](auto& p) { p.buffers[5].error.absolute = -1; }},
           {"in its place", [](auto& p) { p.buffers[1].instead = -1; }},
           {"in its place", [](auto& p) { p.buffers[1].instead = 7; }},
           {"in its place", [](auto& p) { p.buffers[0].absent = true, p.buffers[1].instead = 0; }},
           {"has an output", [](auto& p) { p.buffers[4].role = p.buffers[5].role = BufferRole::kScratch; }},
           {"1 to 16 kernels, not 0", [](auto& p) { p.reference.clear(); }},
           {"1 to 16 kernels, not 17", [](auto& p) { p.reference.resize(17); }},
           {"a kernel's name", [](auto& p) { p.reference[0].symbol = "a b"; }},
           {"cannot be launched", [](auto& p) { p.reference[0].grid.x = 0; }},
           {"cannot be launched", [](auto& p) { p.reference[0].grid.y = 65536; }},
           {"cannot be launched", [](auto& p) { p.reference[0].grid.z = 65536; }},
           {"cannot be launched", [](auto& p) { p.reference[0].block.x = 1025; }},
           {"cannot be launched", [](auto& p) { p.reference[0].block.y = 0; }},
           {"cannot be launched", [](auto& p) { p.reference[0].block = {1, 1, 65}; }},
           {"cannot be launched", [](auto& p) { p.reference[0].block = {256, 5, 1}; }},
           {"more than 64 arguments", [](auto& p) { p.reference[0].arguments.resize(65); }},
           {"argument is not finite", [](auto& p) { p.reference[0].arguments[5].real = INFINITY; }},
           {"names no buffer", [](auto& p) { p.reference[0].arguments[0].integer = -1; }},
           {"names no buffer", [](auto& p) { p.reference[0].arguments[0].integer = 7; }},
           {"names no buffer", [](auto& p) { p.reference[0].arguments[1].integer = 0; }},
           {"names no buffer", [](auto& p) { p.buffers[2].kernel->arguments[0] = {Kind::kValue, 4, 0}; }},
           {"what a library computes", [](auto& p) { p.lesser->reference.clear(); }},
           {"what a library computes", [](auto& p) { p.lesser->reference.resize(17, p.reference[0]); }},
           {"what a library computes", [](auto& p) { p.lesser->errors.pop_back(); }},
           {"at most 16 cases, not 17", [](auto& p) { p.cases.resize(17); }},
           {"too many fills", [](auto& p) { p.cases[0].fills.resize(17, p.cases[0].fills[0]); }},
           {"with the role in", [](auto& p) { p.cases[0].fills[0].buffer = -1; }},
           {"with the role in", [](auto& p) { p.cases[0].fills[0].buffer = 7; }},
           {"with the role in", [](auto& p) { p.cases[0].fills[0].buffer = 4; }},
           {"no fill of buffer X", [](auto& p) { p.cases[0].fills[0].fill = FillKind::kLinked; }},
           {"no fill of buffer X", [](auto& p) { p.cases[0].fills[0].fill = FillKind::kPointers; }},
           {"no fill of buffer X", [](auto& p) { p.cases[0].fills[0].fill = FillKind::kKernel; }},
           {"no fill of buffer X", [](auto& p) { p.cases[0].fills[0].first = INFINITY; }},
           {"no fill of buffer X", [](auto& p) { p.cases[0].fills[0].second = INFINITY; }},
           {"not 'MB/s'", [](auto& p) { p.unit = "MB/s"; }}})
    refuse(wrong);
}

TEST(OperationProblem, KnowsWhetherABufferIsReadAndWritten) {
  OperationProblem problem;
  EXPECT_FALSE(problem.has_inout());
  problem.buffers.resize(2);
  problem.buffers[0].role = problem.buffers[1].role = BufferRole::kOut;
  EXPECT_FALSE(problem.has_inout());
  problem.buffers[1].role = BufferRole::kInOut;
  EXPECT_TRUE(problem.has_inout());
}

TEST(OperationProblem, GemmsJsonHasNoOperation) {
  const Problem gemm = with_default_strides(parse_shape("64x64x64").value()).value();
  EXPECT_FALSE(json(gemm).contains("operation"));
}

struct Refused {
  const char *sizes, *what;
};

TEST(OperationProblem, WrongSizesAreRefused) {
  for (const auto& [sizes, what] :
       {Refused{"M=6", "needs a size N"}, Refused{"M=6,N=8,K=2", "no dimension 'K'"}, Refused{"M=6,M=6,N=8", "twice"},
        Refused{"M=0,N=8", "at least 1"}, Refused{"M=6,N=7", "rows are pairs"}, Refused{"M=6,N", "NAME=NUMBER"},
        Refused{"", "NAME=NUMBER"}, Refused{"M=6,N=1x", "NAME=NUMBER"}, Refused{"M=99999999999999999999,N=2", "NUMBER"},
        Refused{"M=6,N=4611686018427387904", "does not fit in 64 bits"}}) {
    const auto problem = problem_of(sample_json(), sizes);
    ASSERT_FALSE(problem) << sizes;
    EXPECT_EQ(problem.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(problem.error().text(), HasSubstr(what)) << sizes;
  }
}

TEST(OperationProblem, ImpossibleDeclarationsAreRefused) {
  struct Impossible {
    const char *pointer, *value, *what;
  };
  for (const auto& [pointer, value, what] :
       {Impossible{"/buffers/0/strides", "[\"1\", \"1\"]", "elements share memory"},
        Impossible{"/buffers/0/extents", "[\"M - 6\", \"N\"]", "at least 1"},
        Impossible{"/buffers/2/extents", "[\"M\", \"4294967296\", \"4294967296\"]", "buffer Q: its sizes overflow"},
        Impossible{"/buffers/3/fill/integers", "[\"M\", \"0\"]", "no integers lie between"},
        Impossible{"/buffers/3/fill/integers", "[\"0\", \"1 << 40\"]", "does not hold all integers"},
        Impossible{"/buffers/4/error/terms", "\"N - 10\"", "at least one term"},
        Impossible{"/reference/kernels/0/block", "[\"2048\"]", "cannot be launched"},
        Impossible{"/bytes", "\"0\"", "at least 1"}}) {
    json document = sample_json();
    document[json::json_pointer(pointer)] = json::parse(value);
    const auto problem = problem_of(document, "M=6,N=10");
    ASSERT_FALSE(problem) << pointer;
    EXPECT_THAT(problem.error().text(), HasSubstr(what)) << pointer;
  }
}

TEST(OperationProblem, DtypesAreThoseItHas) {
  const auto other = problem_of(sample_json(), "M=6,N=10", Dtype::kF16);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().text(), HasSubstr("it has bf16, f32"));
}

TEST(OperationTemplates, NameBuffersAndSizes) {
  const auto interface = testing::parse(sample_json())->interface();
  json document = json::parse(R"json({
    "schema": 1, "name": "t", "operation": "scale_rows", "source": "t.cu",
    "parameters": [{"name": "BM", "values": [1, 2], "default": 1}],
    "legality": [{"expr": "PITCH % BM == 0 && ALIGN_X >= 2 && DTYPE == 'bf16'", "reason": "r"}],
    "kernels": [{"symbol": "t", "grid": ["M"], "block": ["32"],
                 "arguments": [{"pointer": "X"}, {"pointer": "Y"}, {"float32": "eps"}, {"int64": "N"}]}]
  })json");
  const auto parse = [&](const space::OperationInterface* wanted) {
    return space::parse_template(document.dump(), "t.json", testing::any_file, wanted);
  };
  const auto read = [](const std::string&) -> Result<std::string> { return std::string("// a kernel\n"); };
  const auto definition = space::parse_template(document.dump(), "t.json", read, &interface);
  ASSERT_TRUE(definition) << definition.error().text();
  EXPECT_EQ(definition->operation, "scale_rows");
  EXPECT_EQ(buffer_of_operand(definition->kernels[0].arguments[1].operand), 5);
  json own = document;
  own["workspace"] = {{"bytes", "M"}};
  own["kernels"][0]["arguments"][0]["pointer"] = "workspace";
  const auto with_own = space::parse_template(own.dump(), "t.json", read, &interface);
  ASSERT_TRUE(with_own) << with_own.error().text();
  EXPECT_EQ(with_own->kernels[0].arguments[0].operand, Operand::kWorkspace);
  EXPECT_TRUE(definition->computes(sample()));
  const Problem gemm = with_default_strides(parse_shape("64x64x64").value()).value();
  EXPECT_FALSE(definition->computes(gemm));
  EXPECT_THAT(parse(nullptr).error().text(), HasSubstr("computes the operation 'scale_rows', and 'gemm' is asked for"));
  document["kernels"][0]["arguments"][0]["pointer"] = "A";
  EXPECT_THAT(parse(&interface).error().text(), HasSubstr("X"));
  document["kernels"][0]["arguments"] = json::array({{{"int64", "K"}}});
  EXPECT_THAT(parse(&interface).error().text(), HasSubstr("unknown name 'K'"));
}

}  // namespace
}  // namespace pgtune::operation
