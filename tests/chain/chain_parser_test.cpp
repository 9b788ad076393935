// SPDX-License-Identifier: MIT
// A chain's JSON is read as docs/chains.md says, and everything wrong in it refused with its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/chain/sample_chain_json.hpp"
#include "tests/support/json_edit.hpp"

namespace pgtune::chain {
namespace {

using pgtune::testing::Edit;
using pgtune::testing::expect_refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::json;
using testing::sample_json;

TEST(ChainParser, ReadsTheSample) {
  const auto chain = testing::parse(sample_json());
  ASSERT_TRUE(chain) << chain.error().text();
  EXPECT_EQ(chain->name, "sample");
  EXPECT_THAT(chain->dtypes, ElementsAre(Dtype::kBf16, Dtype::kF32));
  EXPECT_THAT(chain->buffers, ElementsAre("scaled", "wide"));
  ASSERT_EQ(chain->steps.size(), 3);
  EXPECT_FALSE(chain->steps[0].gemm);
  EXPECT_FALSE(chain->steps[0].overlaps);
  EXPECT_TRUE(chain->steps[1].overlaps);
  ASSERT_TRUE(chain->steps[1].gemm && chain->steps[2].gemm);
  EXPECT_EQ(chain->steps[1].gemm->layout, "nt");
  EXPECT_EQ(to_string(chain->steps[1].gemm->epilogue), "gelu");
  EXPECT_EQ(chain->steps[2].gemm->alpha, 0.5);
  EXPECT_EQ(chain->steps[2].buffers.front().buffer, "wide");
}

TEST(ChainParser, SaysWhereTheTextIsWrong) {
  const auto none = parse_chain("{\"schema\": 1,", "sample.json");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(), HasSubstr("sample.json:1:"));
  const auto list = parse_chain("[]", "sample.json");
  ASSERT_FALSE(list);
  EXPECT_THAT(list.error().text(), HasSubstr("expected an object"));
}

TEST(ChainParser, NoFileIsAnErrorWithItsName) {
  const auto none = load_chain("/nowhere/chain.json");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(), HasSubstr("/nowhere/chain.json"));
}

TEST(ChainParser, ReadsTheExample) {
  const auto mlp = load_chain(std::filesystem::path(PGTUNE_SOURCE_DIR) / "examples/chains/mlp.json");
  ASSERT_TRUE(mlp) << mlp.error().text();
  EXPECT_EQ(mlp->steps.size(), 4);
}

class MalformedChain : public ::testing::TestWithParam<Edit> {};

TEST_P(MalformedChain, IsRefused) { expect_refusal(sample_json(), GetParam(), testing::parse); }

INSTANTIATE_TEST_SUITE_P(
    Fields, MalformedChain,
    ::testing::Values(Edit{"/schema", "2", "schema: ", "use a newer pgtune"},
                      Edit{"/name", "\"a-b\"", "name: ", "letters, digits"},
                      Edit{"/name", "", "the field 'name' is missing", ""},
                      Edit{"/step", "[]", "unknown field", "steps"},
                      Edit{"/dtypes/0", "\"tf32\"", "dtypes[0]: ", "no type of elements"},
                      Edit{"/dimensions", "[]", "dimensions: ", "empty"},
                      Edit{"/dimensions/1/name", "\"T\"", "dimensions[1].name: ", "already"},
                      Edit{"/derived/0/expr", "\"4 * K\"", "derived[0].expr: ", "unknown name 'K'"},
                      Edit{"/require/0/reason", "", "require[0]: the field 'reason' is missing", ""},
                      Edit{"/description", "7", "description: ", "expected a string"}));

INSTANTIATE_TEST_SUITE_P(
    Buffers, MalformedChain,
    ::testing::Values(Edit{"/buffers/1/name", "\"scaled\"", "buffers[1].name: ", "two buffers 'scaled'"},
                      Edit{"/buffers/1/name", "\"a.b\"", "buffers[1].name: ", "letters, digits"},
                      Edit{"/buffers/1/bytes", "4", "buffers[1]: ", "unknown field 'bytes'"},
                      Edit{"/buffers/-", "{\"name\": \"spare\"}", "buffers: ", "no step uses the buffer 'spare'"},
                      Edit{"/buffers", "{}", "buffers: ", "expected an array"}));

INSTANTIATE_TEST_SUITE_P(
    Steps, MalformedChain,
    ::testing::Values(Edit{"/steps", "[]", "steps: ", "empty"},
                      Edit{"/steps/0", "\"scale\"", "steps[0]: ", "expected an object"},
                      Edit{"/steps/1/name", "\"scale\"", "steps[1].name: ", "two steps 'scale'"},
                      Edit{"/steps/1/name", "\"1\"", "steps[1].name: ", "a step's name"},
                      Edit{"/steps/0/operation", "", "steps[0]: the field 'operation' is missing", ""},
                      Edit{"/steps/0/operation", "\"\"", "steps[0].operation: ", "empty"},
                      Edit{"/steps/0/layout", "\"nt\"", "steps[0].layout: ", "is for \"gemm\""},
                      Edit{"/steps/0/alpha", "2", "steps[0].alpha: ", "is for \"gemm\""},
                      Edit{"/steps/1/layout", "\"xx\"", "steps[1].layout: ", "nn, nt, tn, tt"},
                      Edit{"/steps/1/out", "\"f64\"", "steps[1].out: ", "f64"},
                      Edit{"/steps/1/epilogue", "\"tanh\"", "steps[1].epilogue: ", "tanh"},
                      Edit{"/steps/1/dtype", "\"f8\"", "steps[1].dtype: ", "f8"},
                      Edit{"/steps/1/alpha", "\"1\"", "steps[1].alpha: ", "expected a number"},
                      Edit{"/steps/1/beta", "1", "steps[1]: ", "unknown field 'beta'"},
                      Edit{"/steps/1/overlaps", "1", "steps[1].overlaps: ", "true or false"},
                      Edit{"/steps/1/size", "", "steps[1]: the field 'size' is missing", ""},
                      Edit{"/steps/1/size", "[\"T\"]", "steps[1].size: ", "must be an object"},
                      Edit{"/steps/1/size/M", "\"ROWS\"", "steps[1].size.M: ", "unknown name 'ROWS'"},
                      Edit{"/steps/1/size/M", "16", "steps[1].size.M: ", "expression in a string"},
                      Edit{"/steps/1/buffers", "[]", "steps[1].buffers: ", "must be an object"},
                      Edit{"/steps/1/buffers/A", "\"scald\"", "steps[1].buffers.A: ", "did you mean 'scaled'"},
                      Edit{"/steps/1/buffers/A", "3", "steps[1].buffers.A: ", "expected a string"}));

}  // namespace
}  // namespace pgtune::chain
