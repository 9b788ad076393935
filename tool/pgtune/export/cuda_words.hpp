// SPDX-License-Identifier: MIT
// How exported headers write what cuda.h names, and pgtune's own words as C++.
#pragma once

#include <string>
#include <string_view>

#include "tuner/model/element_type.hpp"

namespace pgtune::tool {

/// The enumerator of CUtensorMapDataType.
[[nodiscard]] std::string_view cuda_tensor_type(TensorType type);

/// The enums Type, Element and Activation: the words of the model's tables.
[[nodiscard]] std::string word_enums();
/// The tables behind them: kTypes, kElements, kActivationLabels.
[[nodiscard]] std::string word_tables();

}  // namespace pgtune::tool
