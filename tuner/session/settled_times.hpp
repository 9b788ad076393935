// SPDX-License-Identifier: MIT
// What other searches let expect of a variant at the power cap, once it was screened.
#pragma once

#include <span>
#include <vector>

#include "tuner/model/problem.hpp"
#include "tuner/search/predictor.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::session {

/// The time that each variant may be expected to take in settled samples at the power cap: the cycles it was screened
/// with, which hardly change from there, over the clock that its power leaves it, which `clocks` was trained on
/// (tool/pgtune/learning/settled_clocks.hpp). Of these times only the ratios mean something; 0 where `cycles`, one for
/// each variant, is 0. Variants lie in any order. Errors (usage): an expression of a template that fails.
[[nodiscard]] Result<std::vector<double>> expected_settled_times(const search::Predictor& clocks,
                                                                 const space::TemplateSet& templates,
                                                                 const Problem& problem, const DeviceInfo& device,
                                                                 std::span<const Variant> variants,
                                                                 std::span<const double> cycles);

}  // namespace pgtune::session
