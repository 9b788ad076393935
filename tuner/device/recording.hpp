// SPDX-License-Identifier: MIT
// A recording in memory: what the replay device answers from. The tool fills it from a pgtune database.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"

namespace pgtune::device {

struct RecordedVariant {
  TrialReport trial;  ///< outcome and screening blocks
  BuildInfo build;
  std::vector<Block> final_blocks;  ///< of the recorded final, where the variant was in it
};

/// Recorded rounds of one of the reference's algorithms (the first heuristic and the best).
struct RecordedReference {
  ReferenceReport report;
  std::map<int, std::vector<Block>> final_blocks;  ///< by algorithm index
};

struct RecordedProblem {
  Problem problem;
  RecordedReference reference;
  /// "template_name/variant key" -> what happened. Only variants of the same template content hash may be replayed;
  /// the tool filters before it fills this in.
  std::map<std::string, RecordedVariant> variants;
};

struct Recording {
  std::string origin;  ///< for messages: "embedded H200 recording" or a file name
  DeviceInfo device;
  std::map<std::string, RecordedProblem> problems;  ///< by Problem::key()
};

}  // namespace pgtune::device
