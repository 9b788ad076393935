// SPDX-License-Identifier: MIT
#include "tool/pgtune/result_json.hpp"

#include <nlohmann/json.hpp>

#include "tuner/model/json.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

json best_json(const SearchOutcome& outcome, const session::BestRecord& best) {
  return {{"template", best.variant.template_name},
          {"parameters", parameters_to_json(best.variant)},
          {"time_s", best.time_s},
          {"tflops", best.tflops},
          {"ratio_to_reference", best.ratio_to_reference},
          {"ratio_interval", {best.ratio_low, best.ratio_high}},
          {"ties", best.ties},
          {"registers", best.build.registers},
          {"smem_bytes", smem_bytes(outcome, best.variant, best.build)}};
}

json algorithm_json(const SearchOutcome& outcome, const ReferenceReport& reference, int index, double final_s) {
  if (index < 0 || static_cast<std::size_t>(index) >= reference.algorithms.size()) return nullptr;
  const ReferenceAlgorithm& algorithm = reference.algorithms[static_cast<std::size_t>(index)];
  const double time_s = final_s > 0 ? final_s : algorithm.time_s;
  return {{"algorithm", algorithm.description},
          {"rank", algorithm.rank},
          {"time_s", time_s},
          {"tflops", time_s > 0 ? outcome.problem.flops() / time_s * 1e-12 : 0}};
}

json counts_json(const session::CountsRecord& counts) {
  json failed = json::object();
  for (const auto& [kind, count] : counts.failed) failed[std::string(to_string(kind))] = count;
  return {{"space", counts.space},
          {"valid", counts.valid},
          {"compiled", counts.compiled},
          {"measured", counts.measured},
          {"failed", failed}};
}

}  // namespace

json result_json(const SearchOutcome& outcome) {
  const session::SearchResult& result = outcome.result;
  const session::BestRecord* best = result.answer ? &result.answer->best : nullptr;
  return {{"schema", kJsonSchema},
          {"problem", outcome.problem},
          {"device", outcome.device.info},
          {"source", outcome.device.source},
          {"template_hash", outcome.definition->content_hash},
          {"best", best != nullptr ? best_json(outcome, *best) : json(nullptr)},
          {"reference",
           {{"library", result.reference.library},
            {"first", algorithm_json(outcome, result.reference, result.reference.first,
                                     best != nullptr ? best->reference_first_s : 0)},
            {"best", algorithm_json(outcome, result.reference, result.reference.best,
                                    best != nullptr ? best->reference_best_s : 0)}}},
          {"counts", counts_json(result.counts)},
          {"complete", !result.interrupted && !result.budget_reached && (!result.answer || result.answer->complete)},
          {"from_database", result.from_store},
          {"elapsed_s", result.elapsed_s}};
}

}  // namespace pgtune::tool
