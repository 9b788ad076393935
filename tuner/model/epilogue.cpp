// SPDX-License-Identifier: MIT
#include "tuner/model/epilogue.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/util/named_enum.hpp"

namespace pgtune {
namespace {

constexpr EnumNames<Activation, 4> kActivations{{{Activation::kNone, "none"},
                                                 {Activation::kRelu, "relu"},
                                                 {Activation::kGelu, "gelu"},
                                                 {Activation::kSilu, "silu"}}};
constexpr std::string_view kBias = "bias";

tl::unexpected<Error> no_epilogue(std::string_view text, std::string_view cause) {
  return fail(ErrorKind::kUsage,
              fmt::format("epilogue '{}': {}; give 'bias', one of 'relu', 'gelu' and 'silu', or both "
                          "as in 'bias,gelu'",
                          text, cause));
}

}  // namespace

const std::vector<Activation>& all_activations() {
  static const std::vector<Activation> activations = [] {
    std::vector<Activation> out;
    for (const auto& [activation, word] : kActivations) out.push_back(activation);
    return out;
  }();
  return activations;
}

std::string_view to_string(Activation activation) { return enum_name(kActivations, activation); }

std::string to_string(const Epilogue& epilogue) {
  const std::string activation(to_string(epilogue.activation));
  if (!epilogue.bias) return activation;
  return epilogue.activation == Activation::kNone ? std::string(kBias) : fmt::format("{}+{}", kBias, activation);
}

Result<Epilogue> parse_epilogue(std::string_view text) {
  Epilogue epilogue;
  if (text == to_string(Activation::kNone)) return epilogue;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(",+", begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    begin = end + 1;
    if (word == kBias) {
      if (epilogue.bias) return no_epilogue(text, "the bias is there twice");
      epilogue.bias = true;
      continue;
    }
    const auto activation = enum_value(kActivations, word);
    if (!activation || *activation == Activation::kNone)
      return no_epilogue(text, fmt::format("unknown word '{}'", word));
    if (epilogue.activation != Activation::kNone) return no_epilogue(text, "there is more than one activation");
    epilogue.activation = *activation;
  }
  return epilogue;
}

bool cublaslt_fuses(Activation activation) { return activation != Activation::kSilu; }

}  // namespace pgtune
