// SPDX-License-Identifier: MIT
#include "tuner/session/evidence.hpp"

#include <algorithm>
#include <iterator>

#include "tuner/session/answer/session_notes.hpp"

namespace pgtune::session {

void Evidence::add_notes(std::vector<std::string> notes) {
  std::move(notes.begin(), notes.end(), std::back_inserter(notes_));
}

void Evidence::take(const FloorResult& floor) {
  if (floor.note) notes_.push_back(*floor.note);
  take_baseline_samples(floor.baseline_samples);
}

void Evidence::take_final_samples(const std::vector<RoundEntry>& field, int best_algorithm) {
  for (const RoundEntry& entry : field) {
    final_samples_.insert(final_samples_.end(), entry.samples.begin(), entry.samples.end());
    const BaselineAlgorithm* const algorithm = algorithm_of(entry.contender);
    if (algorithm != nullptr && algorithm->index == best_algorithm) take_baseline_samples(entry.samples);
  }
}

void Evidence::take_baseline_samples(const std::vector<Sample>& samples) {
  baseline_samples_.insert(baseline_samples_.end(), samples.begin(), samples.end());
}

void Evidence::drop_samples() {
  baseline_samples_.clear();
  final_samples_.clear();
}

std::vector<std::string> Evidence::notes(const Problem& problem, const BaselineReport& baseline,
                                         const Conditions& conditions) const {
  std::vector<std::string> out = notes_;
  for (auto&& more : {baseline_notes(problem, baseline), check_notes(problem), data_notes(conditions),
                      clock_notes(conditions, baseline_samples_), power_notes(final_samples_), troubles_.notes()}) {
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

}  // namespace pgtune::session
