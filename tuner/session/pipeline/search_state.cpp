// SPDX-License-Identifier: MIT
#include "tuner/session/pipeline/search_state.hpp"

#include <algorithm>

#include "tuner/session/sample_pairs.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::session {
namespace {

/// A build that came to be, whatever happened to it afterwards.
bool was_compiled(const BuildInfo& build) { return build.registers > 0 || !build.cubin_hash.empty(); }

}  // namespace

double median_per_launch_s(const std::vector<Sample>& samples) { return stats::median(per_launch_times(samples)); }

SearchState::SearchState(space::VariantList list)
    : space_(list.space),
      variants_(std::move(list.variants)),
      trials_(variants_.size()),
      screening_s_(variants_.size(), 0.0) {
  for (std::size_t i = 0; i < variants_.size(); ++i) index_of_id_.emplace(variants_[i].id(), i);
}

std::optional<std::size_t> SearchState::find(const Variant& variant) const {
  const auto found = index_of_id_.find(variant.id());
  if (found == index_of_id_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::size_t> SearchState::template_sizes() const {
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    if (i == 0 || variants_[i].template_name != variants_[i - 1].template_name) sizes.push_back(0);
    ++sizes.back();
  }
  return sizes;
}

void SearchState::resume(const std::map<std::string, StoredTrial>& trials) {
  for (const auto& [id, trial] : trials) {
    const auto index = index_of_id_.find(id);
    if (index == index_of_id_.end()) continue;
    record(index->second, trial.build, trial.report);
  }
  count_resumed();
}

void SearchState::forget_launched_otherwise(bool in_graphs) {
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const bool short_launch = screening_s_[i] > 0 && screening_s_[i] < kNoGraph_s;
    if (!short_launch || trial(i).report.cut || trial(i).report.samples.front().graph == in_graphs) continue;
    trials_[i].reset();
    screening_s_[i] = 0;
    --decided_count_;
  }
  find_best();
  count_resumed();
}

void SearchState::count_resumed() {
  resumed_count_ = decided_count_;
  resumed_screen_s_ = all_screen_time_s();
}

void SearchState::expect_right(const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    if (const auto index = index_of_id_.find(id); index != index_of_id_.end())
      right_elsewhere_.push_back(index->second);
  }
}

void SearchState::record(std::size_t index, BuildInfo build, TrialReport report) {
  if (!trials_[index]) ++decided_count_;
  const bool ok = report.outcome.kind == OutcomeKind::kOk;
  screening_s_[index] = ok ? median_per_launch_s(report.samples) : 0;
  trials_[index] = StoredTrial{std::move(report), std::move(build)};
  if (ranks(index) && (!best_ || screening_s_[index] < screening_s_[*best_])) {
    best_ = index;
  } else if (best_ == index) {  // the best so far was replaced by something slower or failed
    find_best();
  }
}

void SearchState::find_best() {
  best_.reset();
  if (const auto order = ranked(); !order.empty()) best_ = order.front();
}

bool SearchState::ranks(std::size_t index) const {
  if (screening_s_[index] <= 0) return false;
  return !trials_[index]->report.cut || !best_ || screening_s_[index] < kClearlySlower * screening_s_[*best_];
}

search::Observation SearchState::observation(std::size_t index) const {
  const TrialReport& report = trial(index).report;
  return {report.outcome.kind, report.cut, screening_s_[index]};
}

std::vector<std::size_t> SearchState::by_screening(bool with_cut) const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    if (with_cut ? screening_s_[i] > 0 : ranks(i)) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return screening_s_[a] < screening_s_[b]; });
  return order;
}

std::vector<std::size_t> SearchState::ranked() const { return by_screening(false); }

std::vector<std::size_t> SearchState::right() const { return by_screening(true); }

double SearchState::all_screen_time_s() const {
  double sum_s = 0;
  for (const auto& trial : trials_) {
    if (!trial) continue;
    for (const Sample& sample : trial->report.samples) sum_s += sample.time_s;
  }
  return sum_s;
}

double SearchState::screen_time_s() const { return all_screen_time_s() - resumed_screen_s_; }

std::int64_t SearchState::failed_count() const {
  return std::count_if(trials_.begin(), trials_.end(),
                       [](const auto& trial) { return trial && trial->report.outcome.kind != OutcomeKind::kOk; });
}

std::int64_t SearchState::cut_count() const {
  return std::count_if(trials_.begin(), trials_.end(), [](const auto& trial) { return trial && trial->report.cut; });
}

CountsRecord SearchState::counts() const {
  CountsRecord counts;
  counts.space = space_;
  counts.valid = static_cast<std::int64_t>(variants_.size());
  for (const auto& trial : trials_) {
    if (!trial) continue;
    if (was_compiled(trial->build)) ++counts.compiled;
    if (trial->report.outcome.kind == OutcomeKind::kOk) {
      ++counts.measured;
    } else {
      ++counts.failed[trial->report.outcome.kind];
    }
  }
  return counts;
}

FailureExamples SearchState::failure_examples() const {
  constexpr std::size_t kExamples = 3;
  const bool several = template_sizes().size() > 1;
  FailureExamples examples;
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    if (!trials_[i] || trials_[i]->report.outcome.kind == OutcomeKind::kOk) continue;
    const Outcome& outcome = trials_[i]->report.outcome;
    auto& kind = examples[outcome.kind];
    if (kind.size() < kExamples) kind.emplace_back(several ? variants_[i].id() : variants_[i].key(), outcome.reason);
  }
  return examples;
}

}  // namespace pgtune::session
