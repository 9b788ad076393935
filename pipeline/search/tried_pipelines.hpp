// SPDX-License-Identifier: MIT
// The candidates that a search for a pipeline tried, with statistics of their samples.
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
  /// Median of the rounds, or of the screening if there were none. Precondition: right().
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
  /// The best of the right ones in the rounds; if none was, of the other right ones; null if none is right.
  [[nodiscard]] const TriedPipeline* fastest() const;

  [[nodiscard]] MeasuredPipeline measured(const pipeline::Candidate& candidate) const;
  /// The ratio of the time of `over` to that of `best`, from the rounds with both; empty if there were none.
  [[nodiscard]] TimeRatio ratio(const pipeline::Candidate& over, const TriedPipeline& best) const;

 private:
  std::map<std::string, TriedPipeline> tried_;
};

}  // namespace pgtune::session
