// SPDX-License-Identifier: MIT
// A chain and sizes become problems on shared buffers; what cannot be executed or checked is refused with the steps and
// buffers that it is about.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/chain/sample_chain_json.hpp"
#include "tuner/model/json.hpp"
#include "tuner/model/problem_operands.hpp"

namespace pgtune::chain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::json;
using testing::sample_json;

const std::vector<NamedValue> kSizes{{"H", 64}, {"T", 16}};

Result<Chain> make(const json& document, const std::vector<NamedValue>& sizes = kSizes,
                   std::optional<Dtype> dtype = std::nullopt, const json& operation = {}) {
  const auto definition = testing::parse(document);
  if (!definition) return tl::unexpected<Error>(definition.error());
  return make_chain(*definition, {{"scale.json", testing::scale_operation(operation)}}, sizes, dtype);
}

void expect_refused(const json& document, const std::string& what, const std::vector<NamedValue>& sizes = kSizes,
                    const json& operation = {}) {
  const auto chain = make(document, sizes, std::nullopt, operation);
  ASSERT_FALSE(chain) << what;
  EXPECT_EQ(chain.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(chain.error().text(), HasSubstr(what));
}

TEST(MakeChain, GivesEachStepItsProblemAndItsBuffers) {
  const auto chain = make(sample_json());
  ASSERT_TRUE(chain) << chain.error().text();
  EXPECT_EQ(chain->title(), "sample T=16,H=64");
  ASSERT_EQ(chain->steps.size(), 3);
  EXPECT_EQ(chain->steps[0].problem.title(), "scale bf16 M=16,N=64");
  EXPECT_EQ(chain->steps[1].problem.title(), "16x256x64 bf16 nt epilogue gelu");
  EXPECT_EQ(chain->steps[2].problem.title(), "16x64x256 bf16 nn alpha 0.5");
  std::vector<std::string> names;
  for (const ChainBuffer& buffer : chain->buffers) names.push_back(buffer.name);
  EXPECT_THAT(names, ElementsAre("scaled", "wide", "scale.X", "up.B", "down.B", "down.D"));
  EXPECT_THAT(chain->steps[0].buffers, ElementsAre(2, 0));
  EXPECT_THAT(chain->steps[1].buffers, ElementsAre(0, 3, 1));
  EXPECT_THAT(chain->steps[2].buffers, ElementsAre(1, 4, 5));
  EXPECT_EQ(chain->buffers[1].bytes, 16 * 256 * 2);
  EXPECT_EQ(chain->bytes(), 2 * (3 * 16 * 64 + 16 * 256 + 2 * 64 * 256));
  EXPECT_EQ(chain->writer(0), 0);
  EXPECT_EQ(chain->writer(1), 1);
  EXPECT_EQ(chain->writer(3), std::nullopt);
  EXPECT_TRUE(chain->any_overlaps());
}

TEST(MakeChain, AnOverlappingStepIsAProblemOfAChainOnlyThere) {
  const auto chain = make(sample_json());
  ASSERT_TRUE(chain);
  EXPECT_FALSE(chain->steps[1].problem.chained);
  EXPECT_TRUE(chain->overlapping_problem(1).chained);
  EXPECT_FALSE(chain->overlapping_problem(2).chained);
  EXPECT_THAT(chain->overlapping_problem(1).key(), HasSubstr(" chained"));
}

TEST(MakeChain, ItsDtypeIsThatOfItsSteps) {
  const auto chain = make(sample_json(), kSizes, Dtype::kF32);
  ASSERT_TRUE(chain) << chain.error().text();
  EXPECT_EQ(chain->steps[0].problem.dtype, Dtype::kF32);
  EXPECT_EQ(chain->steps[2].problem.dtype, Dtype::kF32);
  const auto none = make(sample_json(), kSizes, Dtype::kF16);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(), HasSubstr("the chain 'sample' has no dtype f16; it has bf16, f32"));
}

TEST(MakeChain, IsTheSameAfterAPassThroughJson) {
  const auto chain = make(sample_json());
  ASSERT_TRUE(chain);
  EXPECT_EQ(json(*chain).get<Chain>(), *chain);
}

TEST(MakeChain, SizesAreItsOwn) {
  expect_refused(sample_json(), "the chain 'sample' needs a size H", {{"T", 16}});
  expect_refused(sample_json(), "the chain 'sample' has no dimension 'K'", {{"T", 16}, {"H", 64}, {"K", 1}});
  expect_refused(sample_json(), "the size T is 0", {{"T", 0}, {"H", 64}});
  expect_refused(sample_json(), "is given twice", {{"T", 1}, {"T", 1}, {"H", 64}});
  expect_refused(sample_json(), "the chain refuses sample T=16,H=60: rows are of 16 bytes", {{"T", 16}, {"H", 60}});
  expect_refused(sample_json(), "derived value 'WIDE'", {{"T", 16}, {"H", INT64_MAX / 3}});
}

json with(const char* pointer, const json& value) {
  json document = sample_json();
  document[json::json_pointer(pointer)] = value;
  return document;
}

TEST(MakeChain, SizesOfStepsAreTheirOperations) {
  expect_refused(with("/steps/1/size/P", "T"), "step 'up': gemm has no dimension 'P'");
  expect_refused(with("/steps/1/size", {{"M", "T"}, {"N", "H"}}), "step 'up': gemm needs a size K");
  expect_refused(with("/steps/1/size/M", "T - 16"), "step 'up': the size M is 0");
  expect_refused(with("/steps/1/size/M", "T / (T - 16)"), "size M");
  expect_refused(with("/steps/0/size", {{"M", "T"}}), "step 'scale': the operation 'scale' needs a size N");
  expect_refused(with("/steps/0/size/N", "4"), "rows have 8 elements at least");
  expect_refused(with("/steps/0/dtype", "f16"), "the operation 'scale' has no dtype f16");
  expect_refused(with("/steps/1/dtype", "int8"), "step 'up': ");
}

TEST(MakeChain, BuffersAreTheOperations) {
  expect_refused(with("/steps/1/buffers/E", "wide"), "the operation 'gemm' has no buffer 'E'; known: A, B, D");
  expect_refused(with("/steps/1/buffers/bias", "wide"), "has no buffer 'bias'");
  expect_refused(with("/steps/0/buffers/Z", "wide"), "the operation 'scale.json' has no buffer 'Z'");
}

TEST(MakeChain, SharedBuffersAreTheSameElements) {
  expect_refused(with("/steps/1/size/K", "2 * H"),
                 "the buffer 'scaled' is bf16 16x64 to step 'scale', Y, and bf16 16x128");
  expect_refused(with("/steps/2/dtype", "f32"), "the buffer 'wide' is bf16 16x256 to step 'up', D, and f32 16x256");
  const json padded = {{"buffers",
                        {{{"name", "X"}, {"type", "dtype"}, {"role", "in"}, {"extents", {"M", "N"}}},
                         {{"name", "Y"},
                          {"type", "dtype"},
                          {"role", "out"},
                          {"extents", {"M", "N"}},
                          {"strides", {"N + 8", "1"}},
                          {"error", {{"rule", "exact"}}}}}}};
  expect_refused(sample_json(), "bf16 16x64, strides 72 and 1", kSizes, padded);
}

TEST(MakeChain, PointersBelongToTheirStep) {
  const json rows = {{"pointers", {{{"name", "Xs"}, {"buffer", "X"}, {"count", "M"}, {"offset", "i * N"}}}}};
  const auto chain = make(sample_json(), kSizes, std::nullopt, rows);
  ASSERT_TRUE(chain) << chain.error().text();
  ASSERT_EQ(chain->steps[0].buffers.size(), 3);
  const ChainBuffer& own = chain->buffers[static_cast<std::size_t>(chain->steps[0].buffers[2])];
  EXPECT_EQ(own.name, "scale.Xs");
  EXPECT_EQ(own.bytes, 16 * 8);
  EXPECT_EQ(json(*chain).get<Chain>(), *chain);
  // Two steps would want addresses in buffers of their own.
  json shared = sample_json();
  shared["buffers"].push_back({{"name", "rows"}});
  shared["steps"][0]["buffers"]["Xs"] = "rows";
  EXPECT_TRUE(make(shared, kSizes, std::nullopt, rows)) << "a name alone does no harm";
  shared["steps"].push_back({{"name", "again"},
                             {"operation", "scale.json"},
                             {"size", {{"M", "T"}, {"N", "H"}}},
                             {"buffers", {{"Xs", "rows"}}}});
  expect_refused(shared,
                 "the buffer 'rows' holds pointers into buffers of step 'scale' and is used by step 'again', Xs too",
                 kSizes, rows);
  shared["steps"][3]["buffers"] = {{"X", "rows"}};
  expect_refused(shared, "the buffer 'rows' holds pointers into buffers of step 'scale' and is used by step 'again', X",
                 kSizes, rows);
}

TEST(MakeChain, WhoeverWritesABufferComesFirstAndAlone) {
  expect_refused(with("/steps/2/buffers/D", "scaled"),
                 "the buffer 'scaled' is written by step 'scale', Y and by step 'down', D");
  expect_refused(with("/steps/0/buffers/X", "wide"), "step 'scale'");  // which has other elements, too
  json early = sample_json();
  early["steps"][0]["size"]["N"] = "WIDE";
  early["steps"][0]["buffers"] = {{"X", "wide"}};
  early["steps"][1]["buffers"] = {{"D", "wide"}};
  early["steps"][2]["buffers"] = {{"A", "wide"}};
  early["buffers"] = {{{"name", "wide"}}};
  expect_refused(early, "the buffer 'wide' is read by step 'scale', X before step 'up', D writes it");
  json same = sample_json();
  same["steps"][0]["buffers"] = {{"X", "scaled"}, {"Y", "scaled"}};
  expect_refused(same, "step 'scale' reads and writes the buffer 'scaled'");
}

TEST(MakeChain, AnOverlappingProductReadsNoBThatAStepWrites) {
  json turned = sample_json();
  turned["steps"][1] = {{"name", "up"},     {"operation", "gemm"},
                        {"layout", "nt"},   {"size", {{"M", "T"}, {"N", "T"}, {"K", "H"}}},
                        {"overlaps", true}, {"buffers", {{"A", "scaled"}, {"B", "scaled"}, {"D", "wide"}}}};
  turned["steps"][2]["size"] = {{"M", "T"}, {"N", "H"}, {"K", "T"}};
  expect_refused(turned, "may overlap the launch before it, and so read its B early, but 'scaled'");
  turned["steps"][1]["overlaps"] = false;
  const auto fine = make(turned);
  EXPECT_TRUE(fine) << fine.error().text();
}

/// Y += X, with a result of its own, Z, of as many elements.
json in_place() {
  const auto of = [](const char* name, const char* role) {
    return json{{"name", name}, {"type", "dtype"}, {"role", role}, {"extents", {"M", "N"}}};
  };
  json x = of("X", "in"), y = of("Y", "inout"), z = of("Z", "out");
  y["error"] = z["error"] = {{"rule", "exact"}};
  const json arguments = {{{"buffer", "X"}}, {{"buffer", "Y"}}, {{"value", "Y"}}, {{"value", "Z"}}, {{"int64", "N"}}};
  json kernel = {{"symbol", "scale"}, {"grid", {"M"}}, {"block", {"32"}}, {"arguments", arguments}};
  return {{"buffers", {x, y, z}}, {"reference", {{"source", "scale.cu"}, {"kernels", json::array({kernel})}}}};
}

/// Three such steps on "stream", the second and third of which read what the one before made.
json residual_json() {
  json document = sample_json();
  document["buffers"] = {{{"name", "stream"}}, {{"name", "first"}}, {{"name", "second"}}};
  const auto step = [](const char* name, const json& buffers) {
    return json{{"name", name}, {"operation", "scale.json"}, {"size", {{"M", "T"}, {"N", "H"}}}, {"buffers", buffers}};
  };
  document["steps"] = {step("a", {{"Y", "stream"}, {"Z", "first"}}),
                       step("b", {{"X", "first"}, {"Y", "stream"}, {"Z", "second"}}),
                       step("c", {{"X", "stream"}, {"Y", "second"}})};
  return document;
}

TEST(ChainInPlace, StepsMayChangeABufferOneAfterTheOther) {
  const auto chain = make(residual_json(), kSizes, std::nullopt, in_place());
  ASSERT_TRUE(chain) << chain.error().text();
  constexpr std::size_t kStream = 0, kFirst = 1, kSecond = 2;
  EXPECT_TRUE(chain->changes_in_place(0, kStream));
  EXPECT_TRUE(chain->changes_in_place(1, kStream));
  EXPECT_FALSE(chain->changes_in_place(2, kStream)) << "it is read there";
  EXPECT_TRUE(chain->changes_in_place(2, kSecond));
  EXPECT_EQ(chain->writer(kStream), std::nullopt) << "a launch finds data in it";
  EXPECT_EQ(chain->writer(kSecond), 1);
  EXPECT_EQ(chain->next_change(kStream, 0), 1) << "what the first has left is gone after the second";
  EXPECT_EQ(chain->next_change(kStream, 1), std::nullopt);
  EXPECT_EQ(chain->next_change(kSecond, 1), 2);
  EXPECT_EQ(chain->next_change(kFirst, 0), std::nullopt);
  EXPECT_THAT(chain->kept_up(), ElementsAre(kStream)) << "the second's own result is written anew each time";
  EXPECT_EQ(json(*chain).get<Chain>(), *chain);
  EXPECT_THAT(make(sample_json())->kept_up(), ElementsAre());
}

TEST(ChainInPlace, WhatCouldNotBeJudgedIsRefused) {
  const auto refused = [](const char* pointer, const json& value, const char* what) {
    json document = residual_json();
    document[json::json_pointer(pointer)] = value;
    expect_refused(document, what, kSizes, in_place());
  };
  refused("/steps/1/overlaps", true, "step 'b' changes Y in place, and what it finds there is kept for the check");
  refused("/steps/0/buffers/X", "stream", "step 'a' changes the buffer 'stream' in place and has another use for it");
  refused("/steps/1/buffers/Z", "stream",
          "the buffer 'stream' is read by step 'a', Y before step 'b', Z writes it; put the steps into the order");
  refused("/steps/0/buffers/Z", "stream", "step 'a' reads and writes the buffer 'stream'");
  refused("/steps/2/buffers/Z", "second", "the buffer 'second' is written by step 'b', Z and by step 'c', Z");
}

TEST(ChainInPlace, AnOverlappingProductReadsNoBThatAStepChanges) {
  json document = residual_json();
  document["steps"].push_back({{"name", "product"},
                               {"operation", "gemm"},
                               {"layout", "nt"},
                               {"size", {{"M", "T"}, {"N", "T"}, {"K", "H"}}},
                               {"overlaps", true},
                               {"buffers", {{"A", "first"}, {"B", "stream"}}}});
  expect_refused(document, "so read its B early, but 'stream' is what a step writes", kSizes, in_place());
  document["steps"].back()["buffers"] = {{"A", "stream"}};
  const auto fine = make(document, kSizes, std::nullopt, in_place());
  EXPECT_TRUE(fine) << fine.error().text();
}

TEST(CheckChain, RefusesWhatAWorkerCouldNotExecute) {
  const Chain good = make(sample_json()).value();
  const auto refused = [](const Chain& chain, const std::string& what) {
    const auto checked = check_chain(chain);
    ASSERT_FALSE(checked) << what;
    EXPECT_THAT(checked.error().text(), HasSubstr(what));
  };
  Chain chain = good;
  chain.steps.clear();
  refused(chain, "1 to 32 steps, not 0");
  chain = good;
  chain.steps[1].buffers.pop_back();
  refused(chain, "step 'up' has 2 buffers, and its problem 3");
  chain = good;
  chain.steps[1].buffers[0] = 99;
  refused(chain, "the chain has no buffer 99");
  chain.steps[1].buffers[0] = -1;
  refused(chain, "the chain has no buffer -1");
  chain = good;
  chain.buffers[1].bytes = 8;
  refused(chain, "the chain's buffer 'wide' has 8 bytes, fewer than 8192");
  chain.buffers[1].bytes = INT64_MAX;
  refused(chain, "overflow");
  chain = good;
  chain.steps[0].problem = good.overlapping_problem(1);
  refused(chain, "has 2 buffers, and its problem 3");
  chain = good;
  chain.steps[1].problem.chained = true;
  refused(chain, "step 'up' is a chain already");
}

TEST(SameElements, AreToldWhateverTheirIndices) {
  const auto buffer = [](std::vector<std::int64_t> extents, std::vector<std::int64_t> strides) {
    OperationBuffer out;
    out.extents = std::move(extents);
    out.strides = std::move(strides);
    return out;
  };
  const auto rows = buffer({4, 6}, {6, 1});
  EXPECT_TRUE(are_same_elements(rows, buffer({24}, {1})));
  EXPECT_TRUE(are_same_elements(rows, buffer({1, 4, 2, 3}, {24, 6, 3, 1})));
  EXPECT_TRUE(are_same_elements(rows, buffer({6, 4}, {1, 6})));
  EXPECT_FALSE(are_same_elements(rows, buffer({4, 6}, {8, 1})));
  EXPECT_FALSE(are_same_elements(rows, buffer({4, 5}, {6, 1})));
  auto other = rows;
  other.type = ElementType::kInt32;
  EXPECT_FALSE(are_same_elements(rows, other));
}

}  // namespace
}  // namespace pgtune::chain
