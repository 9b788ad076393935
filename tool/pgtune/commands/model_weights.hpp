// SPDX-License-Identifier: MIT
// The GEMMs of a transformer, from its Hugging Face config.json: a family for each size of weights.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/model/dtype.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::tool {

/// How a program holds the weights.
struct WeightLayout {
  std::int64_t gpus = 1;   ///< of tensor parallelism
  bool separate = false;   ///< q, k and v, and gate and up, by themselves; otherwise in one matrix, as engines do
  bool fused_bias = true;  ///< added by the products; sums of int8 are scaled first
};

/// Weights of one size: N x K, multiplied by the tokens of a batch.
struct WeightFamily {
  std::int64_t n = 0, k = 0;
  bool bias = false;
  std::vector<std::string> uses;  ///< "down projection, 32 layers"
  friend bool operator==(const WeightFamily&, const WeightFamily&) = default;
};

struct ModelWeights {
  std::string model_type;  ///< "llama"
  Dtype dtype = Dtype::kBf16;
  bool names_dtype = false;  ///< the file does
  std::int64_t layers = 0;
  bool quantized = false;  ///< the file's weights have fewer bits than dtype
  std::vector<WeightFamily> families;
};

/// Errors (usage): no JSON, an architecture that is not known, sizes that are missing or that the GPUs cannot share.
[[nodiscard]] Result<ModelWeights> read_model_weights(std::string_view config, const std::string& origin,
                                                      const WeightLayout& layout);

}  // namespace pgtune::tool
