// SPDX-License-Identifier: MIT
#include "tuner/model/epilogue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tuner/model/json.hpp"

namespace pgtune {
namespace {

using testing::HasSubstr;

Problem bf16_with(const char* epilogue) {
  Problem problem = parse_shape("8x16x32").value();
  problem.dtype = Dtype::kBf16;
  problem.epilogue = parse_epilogue(epilogue).value();
  return with_default_strides(problem).value();
}

TEST(Epilogue, WordsAreReadBackInAnyOrder) {
  for (const bool bias : {false, true}) {
    for (const Activation activation : all_activations()) {
      const Epilogue epilogue{bias, activation};
      EXPECT_EQ(parse_epilogue(to_string(epilogue)).value(), epilogue);
    }
  }
  EXPECT_EQ(parse_epilogue("gelu,bias").value(), (Epilogue{true, Activation::kGelu}));
  EXPECT_EQ(to_string(parse_epilogue("bias,silu").value()), "bias+silu");
  EXPECT_FALSE(parse_epilogue("none").value().any());
}

TEST(Epilogue, MistakesAreNamedWithTheRemedy) {
  for (const auto& [text, cause] :
       {std::pair{"", "unknown word ''"}, std::pair{"gleu", "unknown word 'gleu'"},
        std::pair{"bias,", "unknown word ''"}, std::pair{"bias,none", "unknown word 'none'"},
        std::pair{"bias,bias", "the bias is there twice"}, std::pair{"relu,gelu", "more than one activation"}}) {
    const auto parsed = parse_epilogue(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(parsed.error().message, AllOf(HasSubstr(cause), HasSubstr("give 'bias'"))) << text;
  }
}

TEST(Epilogue, ShowsInAProblemsNamesOnlyWhereThereIsOne) {
  const Problem plain = bf16_with("none");
  EXPECT_EQ(plain.key(), "bf16 nn 8x16x32 b1 ld32,16,16 a1 b0");
  EXPECT_EQ(plain.title(), "8x16x32 bf16 nn");
  Problem fused = bf16_with("bias,gelu");
  EXPECT_EQ(fused.key(), plain.key() + " epilogue bias+gelu");
  fused.output = ElementType::kFloat32;
  fused.batch = 3;
  EXPECT_EQ(fused.title(), "8x16x32 bf16 nn out f32 epilogue bias+gelu batch 3");
}

TEST(Epilogue, TheBiasIsARowOfDThatAllShare) {
  Problem problem = bf16_with("bias");
  problem.batch = 5;
  EXPECT_EQ(problem.bias_bytes(), 16 * 2);
  Problem without = problem;
  without.epilogue = {};
  EXPECT_EQ(problem.operand_bytes(), without.operand_bytes() + 16 * 2);
  problem.output = ElementType::kFloat32;
  EXPECT_EQ(problem.bias_bytes(), 16 * 4);
  EXPECT_EQ(bf16_with("gelu").bias_bytes(), 0);
}

TEST(Epilogue, SurvivesJsonAndIsAbsentWhereThereIsNone) {
  using nlohmann::json;
  EXPECT_FALSE(json(bf16_with("none")).contains("epilogue"));
  for (const char* epilogue : {"none", "bias", "relu", "bias,silu"}) {
    const Problem problem = bf16_with(epilogue);
    EXPECT_EQ(json(problem).get<Problem>(), problem) << epilogue;
  }
  json wrong = bf16_with("bias");
  wrong["epilogue"] = "bias+bias";
  EXPECT_THROW(static_cast<void>(wrong.get<Problem>()), json::exception);
}

}  // namespace
}  // namespace pgtune
