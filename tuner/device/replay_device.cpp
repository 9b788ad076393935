// SPDX-License-Identifier: MIT
#include "tuner/device/replay_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pgtune::device {
namespace {

/// A variant that got as far as a build has its cubin's hash, whatever became of it later.
bool was_built(const RecordedVariant& variant) {
  return variant.trial.outcome.kind == OutcomeKind::kOk || !variant.build.cubin_hash.empty();
}

const Block& block_for(const std::vector<Block>& blocks, int round) {
  const auto same = std::find_if(blocks.begin(), blocks.end(), [&](const Block& block) {
    return block.stage == Stage::kFinal && block.round == round;
  });
  return same != blocks.end() ? *same : blocks[static_cast<std::size_t>(round) % blocks.size()];
}

}  // namespace

ReplayDevice::ReplayDevice(Recording recording) : recording_(std::move(recording)) {}

Result<ReferenceReport> ReplayDevice::prepare(const Problem& problem) {
  const auto it = recording_.problems.find(problem.key());
  if (it == recording_.problems.end()) {
    std::string titles;
    for (const auto& [key, recorded] : recording_.problems)
      titles += (titles.empty() ? "" : ", ") + recorded.problem.title();
    return fail(ErrorKind::kUsage,
                fmt::format("{} is not in the recording ({}). It holds: {}. Choose one of these, or run on a GPU",
                            problem.title(), recording_.origin, titles.empty() ? "nothing" : titles));
  }
  problem_ = &it->second;
  return problem_->reference.report;
}

const RecordedVariant* ReplayDevice::find(const Variant& variant) const {
  if (problem_ == nullptr) return nullptr;
  const auto it = problem_->variants.find(variant.template_name + "/" + variant.key());
  return it != problem_->variants.end() ? &it->second : nullptr;
}

Outcome ReplayDevice::not_recorded(const std::string& what) const {
  return {OutcomeKind::kNotRecorded, fmt::format("{} is not in the recording ({})", what, recording_.origin)};
}

void ReplayDevice::submit_build(BuildRequest request) {
  BuildDone done{request.id, {}, {}};
  if (const RecordedVariant* const recorded = find(request.variant); recorded == nullptr) {
    done.outcome = not_recorded("the variant");
  } else if (was_built(*recorded)) {
    done.build = recorded->build;
    done.build.cubin_path.clear();
  } else {
    done.outcome = recorded->trial.outcome;
  }
  done_.emplace_back(std::move(done));
}

void ReplayDevice::submit_trial(TrialRequest request) {
  TrialDone done{request.id, {}};
  if (const RecordedVariant* const recorded = find(request.variant)) {
    done.report = recorded->trial;
  } else {
    done.report.outcome = not_recorded("the variant");
  }
  done_.emplace_back(std::move(done));
}

Result<std::vector<Event>> ReplayDevice::wait(std::chrono::milliseconds /*timeout*/) {
  return std::exchange(done_, {});
}

std::vector<Block> ReplayDevice::blocks_of(const Contender& contender) const {
  if (contender.reference_algorithm < 0) {
    const RecordedVariant* const recorded = find(contender.variant);
    if (recorded == nullptr) return {};
    return recorded->final_blocks.empty() ? recorded->trial.blocks : recorded->final_blocks;
  }
  if (problem_ == nullptr) return {};
  const RecordedReference& reference = problem_->reference;
  const auto it = reference.final_blocks.find(contender.reference_algorithm);
  if (it != reference.final_blocks.end() && !it->second.empty()) return it->second;
  const auto index = static_cast<std::size_t>(contender.reference_algorithm);
  if (index >= reference.report.algorithms.size()) return {};
  Block block;
  block.launches = 1;
  block.time_s = reference.report.algorithms[index].time_s;
  return {block};
}

Result<RoundReport> ReplayDevice::run_round(const RoundRequest& request) {
  const std::size_t count = request.contenders.size();
  RoundReport report{std::vector<std::optional<Block>>(count), std::vector<Outcome>(count)};
  for (std::size_t position = 0; position < request.order.size(); ++position) {
    const auto index = static_cast<std::size_t>(request.order[position]);
    const Contender& contender = request.contenders.at(index);
    const std::vector<Block> blocks = blocks_of(contender);
    if (blocks.empty()) {
      report.outcomes[index] =
          not_recorded(contender.reference_algorithm < 0 ? "the variant's time" : "the reference algorithm");
      continue;
    }
    Block block = block_for(blocks, request.round);
    block.stage = Stage::kFinal;
    block.round = request.round;
    block.position = static_cast<int>(position);
    report.blocks[index] = block;
  }
  return report;
}

}  // namespace pgtune::device
