// SPDX-License-Identifier: MIT
// What a problem does to its result before it is stored: D = activation(alpha op(A) op(B) + beta C + bias). A residual
// that is added is beta C.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/util/result.hpp"

namespace pgtune {

/// kGelu is the approximation with tanh, x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), which is what cuBLASLt computes
/// under that name; kSilu is x / (1 + exp(-x)).
enum class Activation { kNone, kRelu, kGelu, kSilu };

/// The bias is a vector of N elements of D's type, the same for all rows and for all matrices of the batch.
struct Epilogue {
  bool bias = false;
  Activation activation = Activation::kNone;
  friend bool operator==(const Epilogue&, const Epilogue&) = default;
  [[nodiscard]] bool any() const { return bias || activation != Activation::kNone; }
};

[[nodiscard]] const std::vector<Activation>& all_activations();
/// "none", "relu", "gelu", "silu".
[[nodiscard]] std::string_view to_string(Activation activation);
/// "none", "bias", "gelu", "bias+gelu".
[[nodiscard]] std::string to_string(const Epilogue& epilogue);
/// Words joined by ',' or '+', each once and one activation at most: "bias,gelu", "relu", "none". Errors (usage) name
/// the word and list those there are.
[[nodiscard]] Result<Epilogue> parse_epilogue(std::string_view text);

/// cuBLASLt can do it in the product's kernel. It cannot with silu.
[[nodiscard]] bool cublaslt_fuses(Activation activation);

}  // namespace pgtune
