// SPDX-License-Identifier: MIT
// The candidates that a search for a pipeline tried, and what their samples say.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pipeline/plan/candidate.hpp"
#include "pipeline/plan/records.hpp"
#include "pipeline/search/pipeline_answer.hpp"

namespace pgtune::session {

struct TriedPipeline {
  pipeline::Candidate candidate;
  pipeline::TrialResult result;
  std::vector<pipeline::RunSample> rounds;
  double expected_s = 0;  ///< by the model

  [[nodiscard]] bool right() const;
  /// Median of the rounds, or of the screening where there were none. Precondition: right().
  [[nodiscard]] double time_s() const;
};

/// By Candidate::key(). Pointers stay valid.
class TriedPipelines {
 public:
  [[nodiscard]] const TriedPipeline* find(const pipeline::Candidate& candidate) const;
  [[nodiscard]] TriedPipeline* find(const pipeline::Candidate& candidate);
  /// Precondition: it was not tried yet.
  const TriedPipeline& add(TriedPipeline tried);

  /// Those that are right.
  [[nodiscard]] std::vector<const TriedPipeline*> fastest_first() const;
  /// Of those that are right and were in the rounds, or of the others where none was; null where none is right.
  [[nodiscard]] const TriedPipeline* fastest() const;

  [[nodiscard]] MeasuredPipeline measured(const pipeline::Candidate& candidate) const;
  /// Of the time of `over` to that of `best`, from the rounds that both were in; empty where there were none.
  [[nodiscard]] TimeRatio ratio(const pipeline::Candidate& over, const TriedPipeline& best) const;

 private:
  std::map<std::string, TriedPipeline> tried_;
};

}  // namespace pgtune::session
