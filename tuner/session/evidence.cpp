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
  take_reference_blocks(floor.reference_blocks);
}

void Evidence::take(const FinalResult& final, int best_algorithm) {
  for (const Entry& entry : final.field) {
    final_blocks_.insert(final_blocks_.end(), entry.blocks.begin(), entry.blocks.end());
    if (entry.contender.reference_algorithm == best_algorithm) take_reference_blocks(entry.blocks);
  }
}

void Evidence::take_reference_blocks(const std::vector<Block>& blocks) {
  reference_blocks_.insert(reference_blocks_.end(), blocks.begin(), blocks.end());
}

std::vector<std::string> Evidence::notes(const Problem& problem, const ReferenceReport& reference,
                                         const Conditions& conditions) const {
  std::vector<std::string> out = notes_;
  for (auto&& more : {reference_notes(problem, reference), data_notes(conditions),
                      clock_notes(conditions, reference_blocks_), power_notes(final_blocks_), troubles_.notes()}) {
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

std::optional<EnergyResult> measure_final_energy(const Context& context, ProgressReporter& progress,
                                                 const FinalResult& final, const ReferenceReport& reference,
                                                 const std::optional<Variant>& only, Ranking& ranking,
                                                 Evidence& evidence) {
  const auto give_up = [&](const std::string& why) -> std::optional<EnergyResult> {
    evidence.add_notes({"energy was not measured: " + why});
    return std::nullopt;
  };
  if (reference.algorithms.empty()) return give_up("there is no reference to compare with");
  std::vector<protocol::Contender> contenders;
  for (const Entry& entry : final.field) {
    if (entry.index && (!only || entry.contender.variant == *only)) contenders.push_back(entry.contender);
  }
  auto measured = measure_energy(context, progress, contenders, reference.best);
  if (!measured) return give_up(measured.error().text());
  for (RankedVariant& row : ranking.ranked) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      if (contenders[i].variant == row.variant) row.energy = measured->variants[i];
    }
  }
  return std::move(*measured);
}

}  // namespace pgtune::session
