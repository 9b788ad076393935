// SPDX-License-Identifier: MIT
// What an operation says it is compared with: read, checked against the buffers, and as the product a library is given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/operations/sample_operation.hpp"
#include "tuner/model/json.hpp"
#include "tuner/model/library_product.hpp"

namespace pgtune::operation {
namespace {

using ::testing::HasSubstr;
using testing::json;

/// The operation of that name that ships.
json shipped(const std::string& name) {
  std::ifstream file(std::string(PGTUNE_SOURCE_DIR) + "/operations/" + name + ".json");
  return json::parse(std::string(std::istreambuf_iterator<char>(file), {}));
}

Result<Problem> sized(const json& document, std::string_view sizes) {
  const auto definition = testing::parse(document);
  if (!definition) return tl::unexpected<Error>(definition.error());
  return make_problem(*definition, parse_sizes(sizes).value(), std::nullopt);
}

const LibraryProduct& product_of(const Problem& problem) {
  return std::get<LibraryProduct>(problem.operation->baselines.at(0));
}

Problem gemm(const Problem& problem, std::int64_t rows) {
  return gemm_of(product_of(problem), *problem.operation, rows).value();
}

TEST(Baselines, AnOperationWithoutAnyHasNoneAndSaysNothingOfThem) {
  const Problem problem = sized(testing::sample_json(), "M=6,N=10").value();
  EXPECT_TRUE(problem.operation->baselines.empty());
  EXPECT_FALSE(json(problem)["operation"].contains("baselines"));
}

TEST(Baselines, TheyArePartOfTheProblem) {
  const Problem problem = sized(shipped("gemm_block_scaled"), "M=64,N=256,K=512").value();
  ASSERT_EQ(problem.operation->baselines.size(), 1);
  const LibraryProduct& product = product_of(problem);
  EXPECT_TRUE(product.is_scaled());
  EXPECT_EQ(problem.operation->buffers[static_cast<std::size_t>(*product.scale_b)].name, "SB");
  EXPECT_EQ(json(problem).get<Problem>(), problem);
  json without = shipped("gemm_block_scaled");
  without.erase("baselines");
  EXPECT_NE(sized(without, "M=64,N=256,K=512")->key(), problem.key()) << "its ratios mean something else";
}

TEST(Baselines, AProductIsAGemmOfTheBuffers) {
  const Problem scaled = gemm(sized(shipped("gemm_block_scaled"), "M=60,N=256,K=512").value(), 60);
  EXPECT_EQ(scaled.title(), "60x256x512 e4m3 nt");
  EXPECT_EQ(scaled.type_of_c(), ElementType::kBfloat16);
  const Problem grouped = sized(shipped("gemm_grouped"), "G=4,M=100,N=96,K=64").value();
  EXPECT_EQ(gemm(grouped, 17).title(), "17x96x64 bf16 nt");
  const ProductGeometry g = product_geometry(product_of(grouped), *grouped.operation);
  EXPECT_EQ(g.groups, 4);
  EXPECT_EQ(g.rows, 100);
  EXPECT_EQ(g.group_a, 0);
  EXPECT_EQ(g.group_b, 96 * 64);
  for (const char* name : {"gemm_masked", "gemm_masked_block_scaled"}) {
    const Problem masked = sized(shipped(name), "G=4,R=32,E=20,N=96,K=64").value();
    const ProductGeometry m = product_geometry(product_of(masked), *masked.operation);
    EXPECT_EQ(m.rows, 32) << name;
    EXPECT_EQ(m.group_a, 32 * 64) << name;
    EXPECT_EQ(m.group_d, 32 * 96) << name;
  }
}

TEST(Baselines, GroupedProductsAreOfGroupsWithoutScales) {
  for (const auto& [name, sizes] :
       {std::pair{"gemm_grouped", "G=4,M=100,N=96,K=64"}, {"gemm_masked", "G=4,R=32,E=20,N=96,K=64"}}) {
    SCOPED_TRACE(name);
    const Problem grouped = sized(shipped(name), sizes).value();
    ASSERT_EQ(grouped.operation->baselines.size(), 2);
    LibraryProduct one_call = product_of(grouped);
    EXPECT_EQ(one_call.library, BaselineLibrary::kCublasLt) << "ratios are to the products one by one";
    one_call.library = BaselineLibrary::kCublas;
    EXPECT_EQ(grouped.operation->baselines[1], OperationBaseline(one_call));
    EXPECT_EQ(json(grouped).get<Problem>(), grouped);
  }
  json scaled = shipped("gemm_grouped_block_scaled");
  scaled["baselines"][0]["library"] = "cublas";
  EXPECT_THAT(sized(scaled, "G=4,M=100,N=96,K=64").error().text(),
              HasSubstr("baseline cublas: its grouped products have no scales"));
  json dense = shipped("gemm_block_scaled");
  for (const char* scale : {"scale_a", "scale_b"}) dense["baselines"][0].erase(scale);
  dense["baselines"][0]["library"] = "cublas";
  EXPECT_THAT(sized(dense, "M=64,N=256,K=512").error().text(), HasSubstr("baseline cublas: it multiplies groups"));
}

TEST(Baselines, PointersAreNoMatrices) {
  json document = shipped("gemm_grouped");
  document["pointers"] = {{{"name", "As"}, {"buffer", "A"}, {"count", "G"}, {"offset", "0"}}};
  EXPECT_TRUE(sized(document, "G=4,M=100,N=96,K=64"));
  document["baselines"][0]["a"] = "As";
  const auto refused = sized(document, "G=4,M=100,N=96,K=64");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("\"a\" is As, which holds pointers"));
}

TEST(Baselines, StridesSayHowMatricesLie) {
  json document = shipped("gemm_grouped");
  document["buffers"][1]["strides"] = {"1", "M + 8"};
  document["buffers"][2]["strides"] = {"N * K", "1", "N"};
  document["buffers"][3]["strides"] = {"N + 16", "1"};
  const Problem turned = gemm(sized(document, "G=4,M=100,N=96,K=64").value(), 17);
  EXPECT_TRUE(turned.trans_a);
  EXPECT_FALSE(turned.trans_b);
  EXPECT_EQ(turned.lda, 108);
  EXPECT_EQ(turned.ldb, 96);
  EXPECT_EQ(turned.ldc, 112);
}

/// G products of one size, of bf16: D[g] = A[g] B[g]^T.
json batched() {
  json document = testing::sample_json();
  document["dtypes"] = {"bf16"};
  document["dimensions"] = json::parse(R"([{"name": "G"}, {"name": "M"}, {"name": "N"}, {"name": "K"}])");
  for (const char* field : {"derived", "require", "scalars"}) document.erase(field);
  document["buffers"] = json::parse(R"json([
    {"name": "A", "type": "dtype", "role": "in", "extents": ["G", "M", "K"]},
    {"name": "B", "type": "dtype", "role": "in", "extents": ["G", "N", "K"], "strides": ["N * (K + 8)", "K + 8", "1"]
},
    {"name": "D", "type": "dtype", "role": "out", "extents": ["G", "M", "N"], "error": {"rule": "sum", "terms": "K"}}])json");
  document["reference"]["kernels"][0]["arguments"] =
      json::parse(R"([{"buffer": "A"}, {"value": "D"}, {"scale": "D"}])");
  document["baselines"] = json::parse(R"([{"library": "cublaslt", "a": "A", "b": "B", "d": "D"}])");
  return document;
}

TEST(Baselines, EqualProductsAreABatch) {
  const Problem problem = sized(batched(), "G=5,M=60,N=96,K=64").value();
  const Problem all = gemm(problem, 60);
  EXPECT_EQ(all.shape(), "60x96x64");
  EXPECT_EQ(all.batch, 5);
  EXPECT_EQ(all.ldb, 72);
  EXPECT_EQ(all.stride_b(), 96 * 72);
  EXPECT_EQ(json(problem).get<Problem>(), problem);
  EXPECT_EQ(gemm(sized(batched(), "G=1,M=60,N=96,K=64").value(), 60).batch, 1);

  json turned = batched();  // B as K x columns
  turned["buffers"][1]["strides"] = {"N * K", "1", "N"};
  const Problem second = gemm(sized(turned, "G=5,M=60,N=96,K=64").value(), 60);
  EXPECT_FALSE(second.trans_b);
  EXPECT_EQ(second.ldb, 96);
  EXPECT_EQ(second.stride_b(), 96 * 64);
}

TEST(Baselines, ABatchIsOfMatricesBehindOneAnother) {
  const auto refusal = [](const json& document) {
    const auto refused = sized(document, "G=5,M=60,N=96,K=64");
    return refused ? std::string("taken") : refused.error().text();
  };
  json gap = batched(), few = batched(), flat = batched(), cublas = batched(), interleaved = batched();
  gap["buffers"][0]["strides"] = {"M * K + 8", "K", "1"};
  EXPECT_THAT(refusal(gap), HasSubstr("A has a matrix of its batch every 3848 elements and not every 3840"));
  few["buffers"][1]["extents"][0] = "G - 1";
  EXPECT_THAT(refusal(few), HasSubstr("A has the extents 5 x 60 x 64 and not 4 x 60 x 64"));
  flat["buffers"][1] = {{"name", "B"}, {"type", "dtype"}, {"role", "in"}, {"extents", {"N", "K"}}};
  EXPECT_THAT(refusal(flat), HasSubstr("B has 2 dimensions and not 3"));
  cublas["baselines"][0]["library"] = "cublas";
  EXPECT_THAT(refusal(cublas), HasSubstr("it multiplies groups"));
  interleaved["buffers"][2]["strides"] = {"N", "G * N", "1"};
  EXPECT_THAT(refusal(interleaved), HasSubstr("D has a matrix of its batch every 96 elements"));
}

TEST(Baselines, ABatchHasNoScales) {
  json document = shipped("gemm_masked_block_scaled");
  EXPECT_TRUE(sized(document, "G=4,R=32,E=20,N=96,K=64"));
  document["baselines"][0].erase("rows");
  EXPECT_THAT(sized(document, "G=4,R=32,E=20,N=96,K=64").error().text(), HasSubstr("a batch has no scales"));
}

struct Refusal {
  const char *pointer, *value, *what;
};

class RefusedBaseline : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusedBaseline, SaysWhy) {
  json document = shipped("gemm_grouped_block_scaled");
  const json::json_pointer pointer(GetParam().pointer);
  if (std::string_view(GetParam().value).empty()) {
    document[pointer.parent_pointer()].erase(pointer.back());
  } else {
    document[pointer] = json::parse(GetParam().value);
  }
  const auto refused = sized(document, "G=4,M=100,N=96,K=64");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(refused.error().text(), HasSubstr(GetParam().what));
}

INSTANTIATE_TEST_SUITE_P(
    AsItIsRead, RefusedBaseline,
    ::testing::Values(
        Refusal{"/baselines/0/library", "\"blas\"", "baselines[0].library"},
        Refusal{"/baselines/0/a", "", "baselines[0]: the field 'a'"},
        Refusal{"/baselines/0/a", "\"X\"", "baselines[0].a"}, Refusal{"/baselines/0/d", "\"A\"", "baselines[0].d"},
        Refusal{"/baselines/0/c", "\"D\"", "unknown field"}, Refusal{"/baselines/0/scale_b", "", "come together"},
        Refusal{"/baselines/0/rows", "\"offsets\"", "not by both"}, Refusal{"/baselines", "{}", "baselines"},
        Refusal{"/baselines/0", "{\"template\": \"\"}", "baselines[0].template"},
        Refusal{"/baselines/0", "{\"template\": 1}", "baselines[0].template"},
        Refusal{"/baselines/0", "{\"template\": \"a\", \"library\": \"b\"}", "unknown field"},
        Refusal{"/baselines/0/template", "\"a\"", "unknown field"},
        Refusal{"/baselines/0", "{\"template\": \"a\", \"variant\": {}}", "baselines[0].variant"}));

INSTANTIATE_TEST_SUITE_P(
    AsAProduct, RefusedBaseline,
    ::testing::Values(Refusal{"/baselines/0/a", "\"SA\"", "B has the extents 4 x 96 x 64 and not 4 x 96 x 1"},
                      Refusal{"/baselines/0/offsets", "", "B has 3 dimensions and not 2"},
                      Refusal{"/baselines/0/offsets", "\"SA\"", "whose type is f32 and not int32"},
                      Refusal{"/baselines/0/scale_a", "\"offsets\"", "whose type is int32 and not f32"},
                      Refusal{"/baselines/0/scale_a", "", "libraries scale both operands or none"},
                      Refusal{"/baselines/0/scale_b", "", "libraries scale both operands or none"},
                      Refusal{"/baselines/0/scale_a", "\"SB\"", "SB has the extents 4 x 1 x 1"},
                      Refusal{"/buffers/0/extents", "[\"G\"]", "offsets has the extents 4 and not 5"},
                      Refusal{"/buffers/4/extents", "[\"G\", \"BLOCKS_K\", \"BLOCKS_K + 1\"]", "SB has the extents"},
                      Refusal{"/buffers/3/extents", "[\"G\", \"N\", \"K + 1\"]", "B has the extents 4 x 96 x 65"},
                      Refusal{"/buffers/3/strides", "[\"3 * N * K\", \"2 * K\", \"2\"]", "B has neither rows nor"},
                      Refusal{"/buffers/5/strides", "[\"1\", \"M\"]", "D has no rows of neighbours"},
                      Refusal{"/buffers/5/type", "\"int8\"", "no product of e4m3 and e4m3 that is int8"},
                      Refusal{"/buffers/5/role", "\"inout\"", "baselines[0].d"}));

TEST(Baselines, TemplatesStandBesideLibraries) {
  json document = shipped("gemm_grouped");
  const json named = {{"template", "plain.json"}, {"variant", "A=1,B=2"}};
  document["baselines"] = json::array({document["baselines"][0]});
  document["baselines"].insert(document["baselines"].begin(), named);
  document["baselines"].push_back({{"template", "gemm_grouped_mma"}});
  const Problem problem = sized(document, "G=4,M=100,N=96,K=64").value();
  const auto& baselines = problem.operation->baselines;
  ASSERT_EQ(baselines.size(), 3);
  EXPECT_EQ(baselines[0], OperationBaseline(TemplateBaseline{"plain.json", "A=1,B=2"}));
  EXPECT_TRUE(std::holds_alternative<LibraryProduct>(baselines[1]));
  EXPECT_EQ(baselines[2], OperationBaseline(TemplateBaseline{"gemm_grouped_mma", ""}));
  const json written = problem;
  EXPECT_EQ(written.get<Problem>(), problem);
  json nameless = written;
  nameless["operation"]["baselines"][2]["template"] = "";
  EXPECT_THROW(static_cast<void>(nameless.get<Problem>()), json::exception);
}

TEST(Baselines, WhatComesBackFromElsewhereIsCheckedToo) {
  const json problem = sized(shipped("gemm_grouped"), "G=4,M=100,N=96,K=64").value();
  for (const auto& [field, value] : {std::pair{"a", 99}, {"a", -1}, {"b", 3}, {"offsets", 1}, {"d", 0}}) {
    json spoilt = problem;
    spoilt["operation"]["baselines"][0][field] = value;
    EXPECT_THROW(static_cast<void>(spoilt.get<Problem>()), json::exception) << field << " " << value;
  }
  json many = problem;
  many["operation"]["baselines"] = json(9, many["operation"]["baselines"][0]);
  EXPECT_THROW(static_cast<void>(many.get<Problem>()), json::exception);
}

}  // namespace
}  // namespace pgtune::operation
