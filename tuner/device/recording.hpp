// SPDX-License-Identifier: MIT
// A recording in memory: what the replay device answers from. The tool fills it from a pgtune database.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/model/conditions.hpp"
#include "tuner/model/energy_window.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"
#include "tuner/model/variant.hpp"

namespace pgtune::device {

struct RecordedVariant {
  TrialReport trial;  ///< outcome and screening samples
  BuildInfo build;
  std::vector<Sample> rounds;  ///< of all stages of rounds the variant was in
  std::vector<EnergyWindow> energy;
  /// As its template names it today; nothing where it names no variant any more.
  std::optional<Variant> variant = {};
};

/// Recorded rounds of the baseline's algorithms (the first heuristic and the best).
struct RecordedBaseline {
  BaselineReport report;
  std::map<int, std::vector<Sample>> rounds;        ///< by algorithm index; of the floor's, each round has two
  std::map<int, std::vector<EnergyWindow>> energy;  ///< by algorithm index
};

struct RecordedProblem {
  Problem problem;
  Conditions conditions;
  RecordedBaseline baseline;
  std::vector<EnergyWindow> idle_energy;
  /// Variant::id() -> what happened. Only variants of the same template content hash may be replayed;
  /// the tool filters before it fills this in.
  std::map<std::string, RecordedVariant> variants;
};

struct Recording {
  std::string origin;  ///< for messages: "embedded H200 recording" or a file name
  DeviceInfo device;
  std::optional<Ceilings> ceilings;
  std::vector<RecordedProblem> problems;  ///< one for each problem and conditions
};

}  // namespace pgtune::device
