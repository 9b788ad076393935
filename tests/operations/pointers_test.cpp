// SPDX-License-Identifier: MIT
// Arrays of pointers: read, made into runs of plain numbers, and refused where they lead out of their buffer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/operations/sample_operation.hpp"
#include "tests/support/json_edit.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::operation {
namespace {

using pgtune::testing::Edit;
using pgtune::testing::expect_refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::json;

/// Rows of X, which has M of them, PITCH elements apart, and every second element of Y.
json pointing_json() {
  json document = testing::sample_json();
  document["pointers"] = json::parse(R"json([
    {"name": "Xs", "buffer": "X", "count": "M", "offset": "i * PITCH", "align": 16},
    {"name": "Ys", "buffer": "Y", "count": "N / 2", "offset": "N - 2 - 2 * i"}])json");
  document["reference"]["kernels"][0]["arguments"][0] = {{"buffer", "Xs"}};
  return document;
}

Result<Problem> pointing_problem(const json& document, std::string_view sizes = "M=6,N=10",
                                 std::optional<Dtype> dtype = std::nullopt) {
  const auto definition = testing::parse(document);
  if (!definition) return tl::unexpected<Error>(definition.error());
  return make_problem(*definition, parse_sizes(sizes).value(), dtype);
}

std::string pointing_refusal(const json& document, std::string_view sizes = "M=6,N=10") {
  const auto problem = pointing_problem(document, sizes);
  EXPECT_FALSE(problem);
  return problem ? "accepted" : problem.error().text();
}

TEST(Pointers, AreInputsBehindTheBuffers) {
  const auto definition = testing::parse(pointing_json());
  ASSERT_TRUE(definition) << definition.error().text();
  const auto interface = definition->interface();
  ASSERT_EQ(interface.buffers.size(), 9);
  EXPECT_EQ(interface.buffers[7], "Xs");
  EXPECT_THAT(interface.pointers, ElementsAre("Xs", "Ys"));
  const Problem problem = pointing_problem(pointing_json()).value();
  const OperationBuffer& xs = problem.operation->buffers[7];
  EXPECT_EQ(xs.role, BufferRole::kIn);
  EXPECT_EQ(xs.type, ElementType::kBfloat16) << "what they point to";
  EXPECT_EQ(xs.type_text(), "pointers to bf16");
  EXPECT_EQ(xs.bytes(), 6 * 8) << "and what is allocated";
  EXPECT_EQ(xs.alignment, 8);
  EXPECT_EQ(xs.pointers->buffer, 0);
  EXPECT_THAT(xs.pointers->runs, ElementsAre(PointerRun{0, 16, 6}));
  EXPECT_THAT(problem.operation->buffers[8].pointers->runs, ElementsAre(PointerRun{8, -2, 5}));
  EXPECT_EQ(problem.operation->reference[0].arguments[0].integer, 7);
  std::vector<std::string> names;
  for (const NamedValue& value : problem.operation->values) names.push_back(value.name);
  EXPECT_EQ(names, interface.names) << "in the same order";
}

TEST(Pointers, KernelsThatFillABufferMayFollowThem) {
  json document = pointing_json();
  document["buffers"][2]["fill"]["kernel"]["arguments"].push_back({{"buffer", "Ys"}});
  const Problem problem = pointing_problem(document).value();
  EXPECT_EQ(problem.operation->buffers[2].kernel->arguments[3].integer, 8);
}

TEST(Pointers, TheirAlignmentIsWhatTheyPromise) {
  const auto value = [](const Problem& problem, std::string_view name) {
    for (const NamedValue& entry : problem.operation->values)
      if (entry.name == name) return entry.value;
    return std::int64_t{-1};
  };
  const Problem narrow = pointing_problem(pointing_json()).value();
  EXPECT_EQ(value(narrow, "ALIGN_Xs"), 16);
  EXPECT_EQ(value(narrow, "ALIGN_Ys"), 2) << "of an element";
  EXPECT_EQ(value(pointing_problem(pointing_json(), "M=6,N=10", Dtype::kF32).value(), "ALIGN_Ys"), 4);
}

TEST(Pointers, RunsAreAsFewAsTheirStepsAllow) {
  EXPECT_TRUE(runs_of({}).empty());
  EXPECT_THAT(runs_of({5}), ElementsAre(PointerRun{5, 0, 1}));
  EXPECT_THAT(runs_of({3, 3, 3, 9}), ElementsAre(PointerRun{3, 0, 3}, PointerRun{9, 0, 1}));
  EXPECT_THAT(runs_of({0, 4, 8, 0, 4, 8, 0}), ElementsAre(PointerRun{0, 4, 3, 0, 2}, PointerRun{0, 0, 1}));
  EXPECT_THAT(runs_of({0, 0, 9, 9, 18, 18, 20, 20}), ElementsAre(PointerRun{0, 0, 2, 9, 3}, PointerRun{20, 0, 2}));
  EXPECT_THAT(runs_of({7, 5, 3, 4, 5}), ElementsAre(PointerRun{7, -2, 3}, PointerRun{4, 1, 2}));
  EXPECT_THAT(runs_of({INT64_MIN, INT64_MAX}), ElementsAre(PointerRun{INT64_MIN, 0, 1}, PointerRun{INT64_MAX, 0, 1}));
}

TEST(Pointers, ArePartOfTheProblemAndOfItsKey) {
  const Problem problem = pointing_problem(pointing_json()).value();
  EXPECT_EQ(json(problem).get<Problem>(), problem);
  json other = pointing_json();
  other["pointers"][0]["offset"] = "(M - 1 - i) * PITCH";
  EXPECT_NE(pointing_problem(other)->key(), problem.key());
  const json plain = pointing_problem(testing::sample_json()).value();
  EXPECT_FALSE(plain["operation"]["buffers"][0].contains("pointers")) << "stored problems stay as they are";
}

TEST(Pointers, MayNotLeaveTheirBuffer) {
  json document = pointing_json();
  document["pointers"][0]["offset"] = "(i + 1) * PITCH";
  EXPECT_THAT(pointing_refusal(document), HasSubstr("pointers Xs: number 5 leads to element 96 of X, which has 90"));
  document["pointers"][0]["offset"] = "8 - i * 8";
  EXPECT_THAT(pointing_refusal(document), HasSubstr("pointers Xs: number 2 leads to element -8 of X"));
  document["pointers"][0]["offset"] = "i == 4 ? 1 << 40 : 0";
  EXPECT_THAT(pointing_refusal(document), HasSubstr("pointers Xs: number 4 leads to element 1099511627776"));
  document["pointers"][0]["offset"] = "i << 62";
  EXPECT_THAT(pointing_refusal(document), HasSubstr("pointers 'Xs'.offset"));
  document["pointers"][0]["offset"] = "8 / (3 - i)";
  EXPECT_THAT(pointing_refusal(document), HasSubstr("pointers 'Xs'.offset"));
}

TEST(Pointers, KeepTheAlignmentThatTheyPromise) {
  json document = pointing_json();
  document["pointers"][0]["offset"] = "i * PITCH + (i == 3 ? 4 : 0)";
  EXPECT_THAT(pointing_refusal(document),
              HasSubstr("pointers Xs: number 3 leads to byte 104 of X, and \"align\" promises a multiple of 16"));
  document = pointing_json();
  document["buffers"][0]["align"] = 8;
  EXPECT_THAT(pointing_refusal(document),
              HasSubstr("pointers Xs: \"align\" promises multiples of 16 bytes, and X begins at one of 8 only"));
}

TEST(Pointers, AreOneToAsManyAsAProblemHolds) {
  json document = pointing_json();
  document["pointers"][0]["offset"] = "0";
  const auto refusal_of = [&](const char* count) {
    document["pointers"][0]["count"] = count;
    return pointing_refusal(document);
  };
  EXPECT_THAT(refusal_of("M - 6"), HasSubstr("pointers 'Xs': a count of 0; there are 1 to 65536"));
  EXPECT_THAT(refusal_of("-M"), HasSubstr("pointers 'Xs': a count of -6"));
  EXPECT_THAT(refusal_of("M << 61"), HasSubstr("pointers 'Xs'.count"));
  EXPECT_THAT(refusal_of("65537"), HasSubstr("pointers 'Xs': a count of 65537"));
  document["pointers"][0]["count"] = "65536";
  EXPECT_TRUE(pointing_problem(document));
  document["pointers"][0]["offset"] = "i % 8 * 8";
  EXPECT_EQ(pointing_problem(document)->operation->buffers[7].pointers->runs.size(), 1);
  document["pointers"][0]["offset"] = "i * i * i % 11 * 8";
  EXPECT_THAT(pointing_refusal(document), ::testing::ContainsRegex("are [0-9]+ runs of equal steps, and may be 1024"));
}

TEST(Pointers, AreCheckedWhereAProblemComesFromElsewhere) {
  const OperationProblem sound = *pointing_problem(pointing_json())->operation;
  const auto refusal_of = [&](const auto& change) {
    OperationProblem problem = sound;
    change(problem.buffers[7]);
    const auto checked = check_operation_problem(problem);
    return checked ? std::string("accepted") : checked.error().text();
  };
  EXPECT_EQ(refusal_of([](OperationBuffer&) {}), "accepted");
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.pointers->buffer = 9; }), HasSubstr("no such buffer"));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.pointers->buffer = -1; }), HasSubstr("no such buffer"));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.pointers->buffer = 8; }), HasSubstr("Ys holds pointers itself"));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.pointers->buffer = 3; }),
              HasSubstr("they are to bf16, and I has int32"));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.pointers->alignment = 3; }), HasSubstr("power of two up to 256"));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.pointers->alignment = 512; }), HasSubstr("power of two"));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.pointers->runs = {}; }), HasSubstr("there are 0 of them"));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.pointers->runs[0].count = 5; }),
              HasSubstr("there are 5 of them, in an array of 6"));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.pointers->runs[0].count = 0; }), HasSubstr("there are 1 to"));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.pointers->runs[0].count = INT64_MAX; }),
              HasSubstr("there are 1 to 65536"));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.pointers->runs[0].repeats = 0; }), HasSubstr("there are 1 to"));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.pointers->runs[0].repeats = INT64_MAX; }),
              HasSubstr("there are 1 to 65536"));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.pointers->runs[0].repeats = 2; }),
              HasSubstr("there are 12 of them, in an array of 6"));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.pointers->runs[0].step = INT64_MAX; }), HasSubstr("number 1"));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) {
                xs.pointers->runs[0] = {0, 0, 2, INT64_MAX, 3};
              }),
              HasSubstr("number 2"));
  for (const PointerRun& run : {PointerRun{0, INT64_MAX, 1, 0, 6}, PointerRun{0, 16, 6, INT64_MAX, 1}})
    EXPECT_THAT(refusal_of([&](OperationBuffer& xs) { xs.pointers->runs[0] = run; }), HasSubstr("but once"));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.pointers->runs.resize(1025); }), HasSubstr("1025 runs"));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.role = BufferRole::kScratch; }), HasSubstr("an input"));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.fill = FillKind::kData; }), HasSubstr("by \"pointers\""));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) { xs.pointers.reset(); }), HasSubstr("by \"pointers\""));
  EXPECT_THAT(refusal_of([](OperationBuffer& xs) {
                xs.extents = {3, 2};
                xs.strides = {2, 1};
              }),
              HasSubstr("one dimension"));
}

TEST(Pointers, AreNoDataToCountOrToFillForCases) {
  OperationProblem problem = *pointing_problem(pointing_json())->operation;
  problem.cases = {{"flat", {{7, FillKind::kConstant, 0, 0, {}}}}};
  EXPECT_THAT(check_operation_problem(problem).error().text(), HasSubstr("the same for all data"));
  json counted = pointing_json();
  counted["pointers"][0] = {{"name", "Is"}, {"buffer", "I"}, {"count", "M"}, {"offset", "i"}};
  counted["reference"]["kernels"][0]["arguments"][0] = {{"buffer", "Is"}};
  counted["counts"] = json::parse(R"([{"name": "T", "count": "sum", "buffer": "Is", "expected": "M"}])");
  EXPECT_THAT(testing::parse(counted).error().text(), HasSubstr("counts[0].buffer: 'Is' is not one of Q, I"));
  counted.erase("counts");
  problem = *pointing_problem(counted)->operation;
  problem.counts = {{"T", CountKind::kSum, 7}};
  EXPECT_THAT(check_operation_problem(problem).error().text(), HasSubstr("Is is no input of whole numbers"));
}

TEST(Pointers, AreArgumentsOfTemplatesAndNoTensors) {
  const auto interface = testing::parse(pointing_json())->interface();
  json document = json::parse(R"json({
    "schema": 1, "name": "t", "operation": "scale_rows", "source": "t.cu",
    "parameters": [{"name": "BM", "values": [1, 2], "default": 1}],
    "legality": [{"expr": "ALIGN_Xs % 16 == 0", "reason": "r"}],
    "kernels": [{"symbol": "t", "grid": ["M"], "block": ["32"], "arguments": [{"pointer": "Xs"}, {"pointer": "Ys"}]}]
  })json");
  const auto parse = [&] {
    const auto read = [](const std::string&) -> Result<std::string> { return std::string("// a kernel\n"); };
    return space::parse_template(document.dump(), "t.json", read, &interface);
  };
  const auto definition = parse();
  ASSERT_TRUE(definition) << definition.error().text();
  EXPECT_EQ(buffer_of_operand(definition->kernels[0].arguments[1].operand), 8);
  document["tensor_maps"] =
      json::parse(R"json([{"name": "rows", "operand": "Xs", "type": "operand", "dims": ["M"], "box": ["8"]}])json");
  EXPECT_THAT(parse().error().text(), HasSubstr("tensor_maps[0].operand: 'Xs' holds pointers"));
  document["tensor_maps"][0]["operand"] = "X";
  EXPECT_TRUE(parse());
}

class MalformedPointers : public ::testing::TestWithParam<Edit> {};

TEST_P(MalformedPointers, AreRefused) { expect_refusal(pointing_json(), GetParam(), testing::parse); }

INSTANTIATE_TEST_SUITE_P(
    All, MalformedPointers,
    ::testing::Values(
        Edit{"/pointers/0/name", "\"a b\"", "pointers[0].name: ", "cannot be the name of pointers"},
        Edit{"/pointers/1/name", "\"X\"", "pointers[1].name: ", "'X' is a buffer or an array of pointers already"},
        Edit{"/pointers/1/name", "\"Xs\"", "pointers[1].name: ", "already"},
        Edit{"/pointers/1/name", "\"workspace\"", "pointers[1].name: ", "their own memory"},
        Edit{"/pointers/0/name", "", "pointers[0]: the field 'name'", ""},
        Edit{"/pointers/0/buffer", "\"V\"", "pointers[0].buffer: ", "'V' is not one of X, S, Q, I, Z, Y, T"},
        Edit{"/pointers/1/buffer", "\"Xs\"", "pointers[1].buffer: ", "'Xs' is not one of"},
        Edit{"/pointers/0/buffer", "", "pointers[0]: the field 'buffer'", ""},
        Edit{"/pointers/0/count", "", "pointers[0]: the field 'count'", ""},
        Edit{"/pointers/0/count", "6", "pointers[0].count: ", "expression in a string"},
        Edit{"/pointers/0/count", "\"i\"", "pointers[0].count: ", "unknown name 'i'"},
        Edit{"/pointers/0/offset", "", "pointers[0]: the field 'offset'", ""},
        Edit{"/pointers/0/offset", "\"j * N\"", "pointers[0].offset: ", "unknown name 'j'"},
        Edit{"/pointers/0/align", "24", "pointers[0].align: ", "power of two up to 256"},
        Edit{"/pointers/0/align", "512", "pointers[0].align: ", "power of two"},
        Edit{"/pointers/0/fill", "\"data\"", "pointers[0]: unknown field", "offset"},
        Edit{"/dimensions/1/name", "\"i\"", "derived[0].expr: ", "unknown name 'N'"},
        Edit{"/derived/-", "{\"name\": \"i\", \"expr\": \"1\"}", "pointers[0].offset: ", "'i' is already a value"},
        Edit{"/derived/-", "{\"name\": \"ALIGN_Xs\", \"expr\": \"1\"}", "pointers[0]: ", "already"},
        Edit{"/flops", "\"i * N\"", "flops: ", "unknown name 'i'"},
        Edit{"/buffers/0/fill", "{\"pointers\": \"Y\"}", "buffers[0].fill: unknown field", "kernel"},
        Edit{"/pointers",
             "[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"},{\"name\":\"d\"},{\"name\":\"e\"},{\"name\":\"f\"},"
             "{\"name\":\"g\"},{\"name\":\"h\"},{\"name\":\"i\"},{\"name\":\"j\"}]",
             "pointers: ", "16 at most, not 17"},
        Edit{"/cases", "[{\"name\": \"flat\", \"fills\": [{\"buffer\": \"Xs\", \"fill\": \"data\"}]}]",
             "cases[0].fills[0].buffer: ", "Xs"},
        Edit{"/reference/kernels/0/arguments/1", "{\"value\": \"Ys\"}",
             "reference.kernels[0].arguments[1].value: ", "Z"}));

}  // namespace
}  // namespace pgtune::operation
