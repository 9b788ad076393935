// SPDX-License-Identifier: MIT
// "Did you mean": the candidate most similar to a misspelt name.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pgtune {

/// "; did you mean 'BM'?" for the nearest candidate (letter case aside, at most a third of the letters wrong, swapped
/// neighbours count once). Otherwise the candidates themselves, "; known: A, B", or nothing if there are none.
[[nodiscard]] std::string suggestion(std::string_view name, std::span<const std::string> candidates);

}  // namespace pgtune
