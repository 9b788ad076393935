// SPDX-License-Identifier: MIT
// What is remembered of a variant that ended its worker.
#pragma once

#include <cstdint>
#include <string>

#include "tuner/model/outcome.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune {

/// A variant that crashed or hung, and where: the newest outcome of its build on one problem.
struct FatalTrial {
  std::string template_name, template_hash, variant_key;
  std::string cubin_hash;  ///< empty: it was the compiler that crashed or hung
  Outcome outcome;
  Problem problem;
  std::int64_t session = 0;
  std::string date;  ///< of that session's start, UTC, ISO 8601
};

}  // namespace pgtune
