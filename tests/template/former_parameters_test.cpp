// SPDX-License-Identifier: MIT
// Variants recorded under former names are found under the present ones, and declarations that could not work are
// refused.
#include "tuner/template/former_parameters.hpp"

#include <gmock/gmock.h>

#include "tests/template/sample_template.hpp"

namespace pgtune::space {
namespace {

using testing::json;
using testing::sample_json;

/// The sample, whose TM was called ROWS, whose COPY was called ASYNC (0 or 1), and whose BM was one of two in TILE.
json renamed() {
  json document = sample_json();
  document["former_parameters"] = json::parse(R"json([
    {"name": "ROWS", "now": "TM"},
    {"name": "ASYNC", "values": [{"was": "0", "now": "COPY=ldg"}, {"was": "1", "now": "COPY=cp_async"}]},
    {"name": "TILE", "values": [{"was": "small", "now": "BM=32,TM=4"}]},
    {"name": "COPY", "values": [{"was": "plain", "now": "COPY=ldg"}]}
  ])json");
  return document;
}

std::string present_key(const std::string& recorded) {
  const auto variant = recorded_variant(testing::parse_or_die(renamed()), recorded);
  return variant ? variant->key() : "";
}

TEST(FormerParameters, ARecordedVariantGetsThePresentNames) {
  EXPECT_EQ(present_key("BM=128,ROWS=8,ASYNC=1"), "BM=128,TM=8,COPY=cp_async");
  EXPECT_EQ(present_key("BM=128,ROWS=8,ASYNC=0"), "BM=128,TM=8,COPY=ldg");
  EXPECT_EQ(present_key("TILE=small,ASYNC=0"), "BM=32,TM=4,COPY=ldg") << "one former parameter may be two now";
  EXPECT_EQ(present_key("BM=64,TM=4,COPY=plain"), "BM=64,TM=4,COPY=ldg") << "a value may be renamed by itself";
}

TEST(FormerParameters, APresentVariantIsItself) {
  EXPECT_EQ(present_key("BM=128,TM=8,COPY=cp_async"), "BM=128,TM=8,COPY=cp_async");
}

TEST(FormerParameters, AnotherSetOfParametersIsNoVariant) {
  EXPECT_EQ(present_key(""), "");
  EXPECT_EQ(present_key("BM=128,ROWS=8"), "") << "COPY is missing";
  EXPECT_EQ(present_key("BM=128,ROWS=8,TM=8,ASYNC=1"), "") << "TM is named twice";
  EXPECT_EQ(present_key("BM=128,ROWS=8,ASYNC=2"), "") << "no such value was declared";
  EXPECT_EQ(present_key("BM=128,ROWS=3,ASYNC=1"), "") << "TM has no such value";
  EXPECT_EQ(present_key("BM=128,ROWS=8,ASYNC=1,BK=8"), "") << "there never was a BK";
}

TEST(FormerParameters, AGainedParameterHasTheDeclaredValueWhereItIsMissing) {
  json document = renamed();
  document["former_parameters"].push_back({{"name", "COPY"}, {"absent", "ldg"}});
  document["former_parameters"].erase(3);  // COPY's former value: a parameter has one entry
  const TemplateDefinition definition = testing::parse_or_die(document);
  const auto key = [&](const char* recorded) { return recorded_variant(definition, recorded).value().key(); };
  EXPECT_EQ(key("BM=128,ROWS=8"), "BM=128,TM=8,COPY=ldg");
  EXPECT_EQ(key("BM=128,TM=8,COPY=cp_async"), "BM=128,TM=8,COPY=cp_async");
  EXPECT_EQ(key("BM=128,ROWS=8,ASYNC=1"), "BM=128,TM=8,COPY=cp_async") << "a former name says it too";
  EXPECT_FALSE(recorded_variant(definition, "BM=128")) << "TM was not gained";
}

TEST(FormerParameters, AnIdIsInPresentNamesOrTheRecordedOne) {
  const TemplateDefinition definition = testing::parse_or_die(renamed());
  EXPECT_EQ(recorded_variant_id(definition, "BM=128,ROWS=8,ASYNC=0"), "sample/BM=128,TM=8,COPY=ldg");
  EXPECT_EQ(recorded_variant_id(definition, "BM=128"), "sample/BM=128");
}

TEST(FormerParameters, DeclaringThemLeavesTheContentHash) {
  EXPECT_EQ(testing::parse_or_die(renamed()).content_hash, testing::parse_or_die(sample_json()).content_hash);
}

}  // namespace
}  // namespace pgtune::space
