// SPDX-License-Identifier: MIT
// Variants written by people.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/template/sample_template.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::space {
namespace {

using ::testing::HasSubstr;

class VariantText : public ::testing::Test {
 protected:
  [[nodiscard]] std::string key(std::string_view text) const {
    const auto variant = parse_variant(definition_, text);
    return variant ? variant->key() : variant.error().text();
  }
  TemplateDefinition definition_ = testing::parse_or_die(testing::sample_json());
};

TEST_F(VariantText, FillsInDefaults) {
  EXPECT_EQ(key(""), "BM=64,TM=4,COPY=cp_async");
  EXPECT_EQ(key("  "), "BM=64,TM=4,COPY=cp_async");
  EXPECT_EQ(key("COPY=ldg"), "BM=64,TM=4,COPY=ldg");
  EXPECT_EQ(key(" TM = 8 , BM=128"), "BM=128,TM=8,COPY=cp_async");
  EXPECT_EQ(parse_variant(definition_, "").value(), definition_.default_variant());
}

TEST_F(VariantText, RoundTripsItsKey) {
  const Variant variant = parse_variant(definition_, "BM=32,TM=2,COPY=ldg").value();
  EXPECT_EQ(parse_variant(definition_, variant.key()).value(), variant);
}

TEST_F(VariantText, NamesWhatIsWrong) {
  EXPECT_THAT(key("BN=64"), HasSubstr("no parameter 'BN'; did you mean 'BM'?"));
  EXPECT_EQ(key("BM=65"), "BM has no value '65'; its values are 32, 64, 128");
  EXPECT_EQ(key("BM="), "BM has no value ''; its values are 32, 64, 128");
  EXPECT_EQ(key("COPY=tma"), "COPY has no value 'tma'; its values are ldg, cp_async");
  EXPECT_THAT(key("BM"), HasSubstr("not of the form NAME=VALUE"));
  EXPECT_THAT(key("BM=32,"), HasSubstr("'' is not of the form NAME=VALUE"));
  EXPECT_EQ(key("BM=32,BM=32"), "BM is given twice");
}

TEST(RecordedVariant, NamesEachParameterOnce) {
  const TemplateDefinition definition = testing::parse_or_die(testing::sample_json());
  const auto key = [&](const char* recorded) {
    const auto variant = recorded_variant(definition, recorded);
    return variant ? variant->key() : "";
  };
  EXPECT_EQ(key("BM=128,TM=8,COPY=cp_async"), "BM=128,TM=8,COPY=cp_async");
  EXPECT_EQ(key(""), "");
  EXPECT_EQ(key("BM=128,TM=8"), "") << "COPY is missing";
  EXPECT_EQ(key("BM=128,TM=8,TM=8"), "") << "TM is named twice";
  EXPECT_EQ(key("BM=128,TM=3,COPY=ldg"), "") << "TM has no such value";
  EXPECT_EQ(key("BM=128,TM=8,COPY=ldg,BK=8"), "") << "there is no BK";
}

}  // namespace
}  // namespace pgtune::space
