// SPDX-License-Identifier: MIT
// The GEMMs of public models, from the sizes in their config.json.
#include "tool/pgtune/commands/model_weights.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pgtune::tool {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kLlama8B = R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
  "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256,
  "torch_dtype": "bfloat16", "head_dim": null})";
constexpr const char* kLlama2 = R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008,
  "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 32000, "torch_dtype": "float16"})";
constexpr const char* kQwen2 = R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944,
  "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4, "vocab_size": 152064})";
constexpr const char* kQwen3 = R"({"model_type": "qwen3", "hidden_size": 5120, "intermediate_size": 25600,
  "num_attention_heads": 64, "num_hidden_layers": 64, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 151936,
  "attention_bias": false})";
constexpr const char* kGemma3 = R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text",
  "hidden_size": 3840, "intermediate_size": 15360, "num_attention_heads": 16, "num_hidden_layers": 48,
  "num_key_value_heads": 8, "head_dim": 256, "vocab_size": 262208}})";
/// Of 4B parameters: what such files leave out is the architecture's.
constexpr const char* kGemma3Small = R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text",
  "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34}})";
constexpr const char* kPhi3 = R"({"model_type": "phi3", "hidden_size": 3072, "intermediate_size": 8192,
  "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32, "vocab_size": 32064})";
constexpr const char* kMixtral = R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
  "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 32000,
  "num_local_experts": 8, "num_experts_per_tok": 2})";
constexpr const char* kQwenMoe = R"({"model_type": "qwen2_moe", "hidden_size": 3584, "intermediate_size": 18944,
  "moe_intermediate_size": 2560, "shared_expert_intermediate_size": 20480, "num_attention_heads": 28,
  "num_hidden_layers": 28, "num_key_value_heads": 4, "num_experts": 64, "num_experts_per_tok": 8, "vocab_size": 151936,
  "mlp_only_layers": [0, 1], "decoder_sparse_step": 1})";
constexpr const char* kDeepseek = R"({"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432,
  "moe_intermediate_size": 2048, "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128,
  "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3,
  "moe_layer_freq": 1, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
  "v_head_dim": 128, "vocab_size": 129280, "torch_dtype": "bfloat16", "quantization_config": {"quant_method": "fp8"}})";

std::vector<std::string> sizes(const char* config, const WeightLayout& layout = {}) {
  const auto model = read_model_weights(config, "config.json", layout);
  EXPECT_TRUE(model) << model.error().text();
  std::vector<std::string> out;
  for (const WeightFamily& family : model ? model->families : std::vector<WeightFamily>{})
    out.push_back(fmt::format("{}x{}{}", family.n, family.k, family.bias ? " bias" : ""));
  return out;
}

std::vector<std::string> uses(const char* config, std::size_t family, const WeightLayout& layout = {}) {
  return read_model_weights(config, "config.json", layout).value().families.at(family).uses;
}

std::string refusal(const std::string& config, const WeightLayout& layout = {}) {
  const auto model = read_model_weights(config, "config.json", layout);
  EXPECT_FALSE(model);
  return model ? "" : model.error().text();
}

std::string edited(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(ModelWeights, OfDenseModels) {
  EXPECT_THAT(sizes(kLlama8B), ElementsAre("6144x4096", "4096x4096", "28672x4096", "4096x14336", "128256x4096"));
  EXPECT_THAT(uses(kLlama8B, 3), ElementsAre("down projection, 32 layers"));
  EXPECT_THAT(sizes(kQwen3), ElementsAre("10240x5120", "5120x8192", "51200x5120", "5120x25600", "151936x5120"));
  EXPECT_THAT(sizes(kGemma3), ElementsAre("8192x3840", "3840x4096", "30720x3840", "3840x15360", "262208x3840"));
  EXPECT_THAT(sizes(kGemma3Small), ElementsAre("4096x2560", "2560x2048", "20480x2560", "2560x10240", "262208x2560"));
}

TEST(ModelWeights, ABiasOfQueriesIsPartOfTheFamily) {
  EXPECT_THAT(sizes(kQwen2), ElementsAre("4608x3584 bias", "3584x3584", "37888x3584", "3584x18944", "152064x3584"));
  const std::string biased = edited(kQwen3, "\"attention_bias\": false", "\"attention_bias\": true");
  EXPECT_THAT(sizes(biased.c_str()),
              ElementsAre("10240x5120 bias", "5120x8192 bias", "51200x5120", "5120x25600", "151936x5120"));
}

TEST(ModelWeights, SeparateWeightsAreThoseOfTheFile) {
  EXPECT_THAT(sizes(kLlama8B, {.separate = true}),
              ElementsAre("4096x4096", "1024x4096", "14336x4096", "4096x14336", "128256x4096"));
  EXPECT_THAT(uses(kLlama8B, 0, {.separate = true}),
              ElementsAre("query projection, 32 layers", "output projection, 32 layers"));
  EXPECT_THAT(uses(kLlama8B, 1, {.separate = true}), ElementsAre("key and value projection, 2 x 32 layers"));
  EXPECT_THAT(uses(kLlama8B, 2, {.separate = true}), ElementsAre("gate and up projection, 2 x 32 layers"));
  EXPECT_THAT(sizes(kLlama2, {.separate = true}), ElementsAre("4096x4096", "11008x4096", "4096x11008", "32000x4096"));
  EXPECT_EQ(sizes(kPhi3, {.separate = true}), sizes(kPhi3)) << "stored in one matrix";
  EXPECT_THAT(sizes(kPhi3), ElementsAre("9216x3072", "3072x3072", "16384x3072", "3072x8192", "32064x3072"));
}

TEST(ModelWeights, GpusShareHeadsAndColumns) {
  EXPECT_THAT(sizes(kLlama8B, {.gpus = 4}),
              ElementsAre("1536x4096", "4096x1024", "7168x4096", "4096x3584", "32064x4096"));
  EXPECT_THAT(sizes(kLlama8B, {.gpus = 16}).front(), "512x4096") << "two heads, and one of keys and values each";
  EXPECT_THAT(refusal(kLlama8B, {.gpus = 3}), HasSubstr("3 GPUs cannot share 32 attention heads"));
  EXPECT_THAT(refusal(kQwen2, {.gpus = 8}), HasSubstr("28 attention heads"));
}

TEST(ModelWeights, HeadsDivideWhatTheyShare) {
  EXPECT_THAT(refusal(edited(kLlama2, "heads\": 32", "heads\": 33")),
              HasSubstr("hidden_size 4096 is no multiple of 33 attention heads"));
  EXPECT_THAT(refusal(edited(kLlama8B, "value_heads\": 8", "value_heads\": 7")),
              HasSubstr("32 attention heads are no multiple of 7 key and value heads"));
}

TEST(ModelWeights, OfExperts) {
  EXPECT_THAT(sizes(kMixtral),
              ElementsAre("6144x4096", "4096x4096", "28672x4096", "4096x14336", "8x4096", "32000x4096"));
  EXPECT_THAT(uses(kMixtral, 2), ElementsAre("gate and up projection of an expert, 2 of 8 for a token, 8 x 32 layers"));
  EXPECT_THAT(sizes(kQwenMoe), ElementsAre("4608x3584 bias", "3584x3584", "37888x3584", "3584x18944", "5120x3584",
                                           "3584x2560", "64x3584", "40960x3584", "3584x20480", "151936x3584"));
  EXPECT_THAT(uses(kQwenMoe, 2), ElementsAre("gate and up projection, 2 layers"));
  EXPECT_THAT(uses(kQwenMoe, 7), ElementsAre("gate and up projection of the shared expert, 26 layers"));
}

TEST(ModelWeights, OfLatentAttention) {
  EXPECT_THAT(sizes(kDeepseek), ElementsAre("2112x7168", "24576x1536", "32768x512", "7168x16384", "36864x7168",
                                            "7168x18432", "4096x7168", "7168x2048", "256x7168", "129280x7168"));
  EXPECT_THAT(uses(kDeepseek, 6),
              ElementsAre("gate and up projection of an expert, 8 of 256 for a token, 256 x 58 layers",
                          "gate and up projection of the shared experts, 58 layers"));
  EXPECT_TRUE(read_model_weights(kDeepseek, "config.json", {}).value().quantized);
  const std::string plain = edited(kDeepseek, "\"q_lora_rank\": 1536", "\"q_lora_rank\": null");
  EXPECT_THAT(sizes(plain.c_str()).at(0), "576x7168");
  EXPECT_THAT(sizes(plain.c_str()).at(1), "24576x7168");
}

TEST(ModelWeights, FieldsThatAreLeftOutMeanWhatTransformersMeans) {
  const auto without = [](const std::string& text, const std::string& name) {
    const std::size_t begin = text.find("\"" + name + "\"");
    return text.substr(0, begin) + text.substr(text.find('"', text.find(',', begin)));
  };
  EXPECT_THAT(sizes(without(kMixtral, "num_key_value_heads").c_str()).front(), "6144x4096");
  EXPECT_THAT(sizes(without(kQwen3, "head_dim").c_str()).front(), "10240x5120");
  EXPECT_THAT(refusal(without(kQwen2, "num_key_value_heads")), HasSubstr("no multiple of 32 key and value heads"));
  for (const char* name : {"q_lora_rank", "n_shared_experts", "first_k_dense_replace"})
    EXPECT_THAT(refusal(without(kDeepseek, name)), HasSubstr("is missing")) << name;
}

TEST(ModelWeights, LimitsHoldForWhatFollowsFromTheSizes) {
  EXPECT_THAT(refusal(edited(kLlama2, "num_attention_heads\": 32", "head_dim\": 1048576, \"num_attention_heads\": 32")),
              HasSubstr("query, key and value projection, 32 layers, has a size above 16777216"));
  EXPECT_THAT(refusal(edited(kLlama2, "layers\": 32", "layers\": 20000")), HasSubstr("from 1 to 10000"));
  EXPECT_THAT(refusal(edited(kMixtral, "per_tok\": 2", "per_tok\": 9")), HasSubstr("cannot have 9 of 8 experts"));
}

TEST(ModelWeights, TypesAreTheFiles) {
  EXPECT_EQ(read_model_weights(kLlama2, "c", {}).value().dtype, Dtype::kF16);
  EXPECT_EQ(read_model_weights(kQwen2, "c", {}).value().dtype, Dtype::kBf16);
  EXPECT_THAT(refusal(edited(kLlama2, "float16", "int4")), HasSubstr("'int4' is not bfloat16"));
  const std::string newer = edited(kLlama2, "torch_dtype", "dtype");
  EXPECT_EQ(read_model_weights(newer, "c", {}).value().dtype, Dtype::kF16);
  const std::string outside = edited(kGemma3Small, "{", R"({"torch_dtype": "float16", "quantization_config": {}, )");
  const auto of_text = read_model_weights(outside, "c", {}).value();
  EXPECT_EQ(of_text.dtype, Dtype::kF16);
  EXPECT_TRUE(of_text.names_dtype);
  EXPECT_TRUE(of_text.quantized);
  EXPECT_FALSE(read_model_weights(kGemma3Small, "c", {}).value().names_dtype);
}

TEST(ModelWeights, WhatIsNotKnownIsRefusedByName) {
  EXPECT_THAT(refusal(edited(kLlama2, "llama", "gpt_oss")),
              ::testing::AllOf(HasSubstr("config.json: the architecture 'gpt_oss' is not known; known: "),
                               HasSubstr("--shape")));
  EXPECT_THAT(refusal(edited(kLlama2, "\"llama\"", "\"lama\"")), HasSubstr("did you mean 'llama'? Name its GEMMs"));
  EXPECT_THAT(refusal("{}"), HasSubstr("'model_type' is missing"));
  EXPECT_THAT(refusal("[]"), HasSubstr("'model_type' is missing"));
  EXPECT_THAT(refusal(edited(kLlama2, "\"hidden_size\"", "\"hidden\"")), HasSubstr("'hidden_size' is missing"));
  EXPECT_THAT(refusal(edited(kLlama2, "4096", "-4096")), HasSubstr("from 1 to"));
  EXPECT_THAT(refusal(edited(kLlama2, "4096", "1e30")), HasSubstr("integer"));
  EXPECT_THAT(refusal(edited(kLlama2, "4096", "\"4096\"")), HasSubstr("integer"));
}

}  // namespace
}  // namespace pgtune::tool
