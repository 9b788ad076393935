// SPDX-License-Identifier: MIT
// `pgtune export header`: the best variants as a C++17 header that needs nothing but the standard library.
#pragma once

#include <string>
#include <vector>

#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"
#include "tuner/model/sampling.hpp"
#include "tuner/model/variant.hpp"

namespace pgtune::tool {

/// One row of the table, with where it came from.
struct HeaderRow {
  DeviceInfo device;
  Problem problem;
  Variant variant;
  std::string template_hash;
  Source source = Source::kGpu;
  std::string finished_at;
  std::string enlarged_shape = {}, copied = {};  ///< as BaselineReport's
  Sampling sampling = Sampling::kShort;
  double time_s = 0, tflops = 0, ratio = 0, ratio_low = 0, ratio_high = 0;
};

/// The header's text: for each template a struct of its parameters, a constexpr table sorted by device and problem, and
/// `find_<template>(device, problem)` (exact match, nullptr otherwise). `name_space` is one for which
/// why_no_namespace() has nothing to say. Rows of one template have the same parameters.
[[nodiscard]] std::string write_header(const std::vector<HeaderRow>& rows, const std::string& name_space);

}  // namespace pgtune::tool
