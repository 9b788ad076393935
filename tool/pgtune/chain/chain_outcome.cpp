// SPDX-License-Identifier: MIT
#include "tool/pgtune/chain/chain_outcome.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"
#include "tuner/model/problem_operands.hpp"
#include "tuner/stats/descriptive.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;
using session::ChainAnswer;
using session::ChainTimes;

std::string microseconds(double seconds) { return fmt::format("{:.4g} us", 1e6 * seconds); }

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

/// exp of a mean logarithm: "1.072 (1.065 to 1.080)".
std::string ratio_text(const stats::LogRatio& ratio) {
  std::string text = fmt::format("{:.3f}", std::exp(ratio.mean));
  if (ratio.interval.coverage > 0)
    text += fmt::format(" ({:.3f} to {:.3f})", std::exp(ratio.interval.low), std::exp(ratio.interval.high));
  return text;
}

json ratio_json(const stats::LogRatio& ratio) {
  if (ratio.pairs == 0) return nullptr;
  return {{"ratio", std::exp(ratio.mean)},
          {"low", std::exp(ratio.interval.low)},
          {"high", std::exp(ratio.interval.high)},
          {"coverage", ratio.interval.coverage},
          {"pairs", ratio.pairs}};
}

json time_json(const ChainTimes& times) {
  const double time_s = times.time_s();
  return time_s > 0 ? json(time_s) : json(nullptr);
}

json variant_json(const Variant& variant) {
  return {{"template", variant.template_name}, {"parameters", parameters_to_json(variant)}};
}

/// Who writes each shared buffer, and who reads it.
std::string buffers_text(const Chain& chain) {
  TextTable table({{"buffer"}, {"elements"}, {"written by"}, {"read by", Align::kLeft, Wrap::kWords}});
  for (std::size_t i = 0; i < chain.buffers.size(); ++i) {
    std::string elements, written, read;
    int uses = 0;
    for (const ChainStep& step : chain.steps) {
      const std::vector<ProblemOperand> operands = operands_of(step.problem);
      for (std::size_t j = 0; j < operands.size(); ++j) {
        if (step.buffers[j] != static_cast<std::int64_t>(i)) continue;
        ++uses;
        elements = elements_text(operands[j].buffer);
        const BufferRole role = operands[j].buffer.role;
        std::string& users = role == BufferRole::kIn ? read : written;
        users += fmt::format("{}{}.{}{}", users.empty() ? "" : ", ", step.name, operands[j].buffer.name,
                             role == BufferRole::kInOut ? " in place" : "");
      }
    }
    if (uses > 1) table.add_row({chain.buffers[i].name, elements, written, read});
  }
  return table.empty() ? std::string() : "\n" + table.text();
}

double mean_clock_hz(const ChainTimes& times) {
  std::vector<double> clocks;
  for (const Sample& sample : times.samples) clocks.push_back(sample.sm_clock_hz);
  return stats::median(clocks);
}

std::string steps_text(const ChainOutcome& outcome) {
  const ChainAnswer& answer = outcome.result.answer;
  TextTable table({{"step"},
                   {"us alone", Align::kRight},
                   {"share", Align::kRight},
                   {"error", Align::kRight},
                   {"problem and variant", Align::kLeft, Wrap::kWords}});
  for (std::size_t i = 0; i < outcome.chain.steps.size(); ++i) {
    const ChainStep& step = outcome.chain.steps[i];
    const double time_s = answer.steps[i].time_s();
    table.add_row({step.name, fmt::format("{:.4g}", 1e6 * time_s), percent(answer.share(i)),
                   fmt::format("{:.3f}", answer.check.steps[i].max_error),
                   fmt::format("{} {}", step.problem.title(), outcome.kernels[i].alone.variant.id())});
  }
  return "\n" + table.text();
}

std::string measured_text(const ChainOutcome& outcome) {
  const ChainAnswer& answer = outcome.result.answer;
  const double sum_s = answer.steps_s(), chain_s = answer.chain.time_s();
  std::string text = fact("alone", fmt::format("{}: its steps' times added, each cold", microseconds(sum_s)));
  text += fact("chain", fmt::format("{} a run as one graph, {} times the speed of that", microseconds(chain_s),
                                    ratio_text(answer.steps_to_chain)));
  text += fact("", chain_s > sum_s ? fmt::format("{} more: what lies between launches, less what steps find in L2",
                                                 microseconds(chain_s - sum_s))
                                   : fmt::format("{} less: steps find in L2 what the one before has left there",
                                                 microseconds(sum_s - chain_s)));
  if (!answer.overlapping_chain.samples.empty()) {
    const double overlapping_s = answer.overlapping_chain.time_s();
    text += fact("overlap", fmt::format("{} a run, {} times the speed of the chain", microseconds(overlapping_s),
                                        ratio_text(answer.chain_to_overlapping)));
    text += fact("", fmt::format("{} of {} launches that may start before the one before has ended do",
                                 answer.overlapping->programmatic_edges, answer.overlapping->overlapping_launches));
  }
  text += fact("samples",
               fmt::format("{}, {} rounds over {} copies of the buffers, at {:.0f} MHz", to_string(answer.sampling),
                           answer.rounds, answer.prepared.copies, 1e-6 * mean_clock_hz(answer.chain)));
  return text + steps_text(outcome);
}

}  // namespace

std::string chain_plan_text(const Chain& chain, const std::vector<std::string>& searches) {
  std::string text = chain.title() + "\n";
  text += fact("buffers", fmt::format("{} bytes a run", chain.bytes()));
  TextTable table({{"step"}, {"overlaps"}, {"problem", Align::kLeft, Wrap::kWords}});
  for (const ChainStep& step : chain.steps)
    table.add_row({step.name, step.overlaps ? "may" : "no", step.problem.title()});
  text += "\n" + table.text() + buffers_text(chain) + "\n";
  for (const std::string& search : searches) text += search + "\n";
  return text;
}

json chain_plan_json(const Chain& chain, const std::vector<std::string>& searches) {
  json out = {{"schema", kJsonSchema}, {"chain", chain}, {"bytes", chain.bytes()}, {"searches", searches}};
  return out;
}

std::string chain_text(const ChainOutcome& outcome) {
  const session::ChainResult& result = outcome.result;
  std::string text = outcome.chain.title() + "\n" + fact("device", outcome.device_description);
  if (result.outcome.kind != OutcomeKind::kOk) {
    text += fact("result", fmt::format("none: {}: {}", to_string(result.outcome.kind), result.outcome.reason));
  } else if (result.answer.rounds > 0) {
    text += measured_text(outcome);
  }
  std::string notes;
  for (const std::string& note : outcome.notes) notes += fact("note", note);
  for (const std::string& note : result.answer.notes) notes += fact("note", note);
  return text + (notes.empty() ? "" : "\n" + notes);
}

json chain_json(const ChainOutcome& outcome) {
  const ChainAnswer& answer = outcome.result.answer;
  json out = {{"schema", kJsonSchema},
              {"chain", outcome.chain.name},
              {"sizes", outcome.chain.sizes},
              {"device", outcome.device},
              {"device_class", device_class(outcome.device).text()},
              {"outcome", outcome.result.outcome},
              {"complete", !outcome.result.interrupted},
              {"sampling", to_string(answer.sampling)},
              {"rounds", answer.rounds},
              {"copies", answer.prepared.copies},
              {"time_s", time_json(answer.chain)},
              {"steps_s", answer.steps_s() > 0 ? json(answer.steps_s()) : json(nullptr)},
              {"steps_to_chain", ratio_json(answer.steps_to_chain)},
              {"samples", answer.chain.samples}};
  json notes = outcome.notes;
  for (const std::string& note : answer.notes) notes.push_back(note);
  out["notes"] = std::move(notes);
  out["steps"] = json::array();
  for (std::size_t i = 0; i < outcome.chain.steps.size(); ++i) {
    const ChainStep& step = outcome.chain.steps[i];
    const protocol::ChainKernel& kernel = outcome.kernels[i];
    json row = {{"name", step.name},
                {"problem", step.problem.title()},
                {"key", step.problem.key()},
                {"variant", variant_json(kernel.alone.variant)},
                {"overlapping_variant", nullptr},
                {"check", nullptr},
                {"time_s", nullptr},
                {"share", nullptr}};
    if (kernel.overlapping) row["overlapping_variant"] = variant_json(kernel.overlapping->variant);
    if (i < answer.check.steps.size()) row["check"] = answer.check.steps[i];
    if (i < answer.steps.size() && !answer.steps[i].samples.empty()) {
      row["time_s"] = time_json(answer.steps[i]);
      row["share"] = answer.share(i);
      row["samples"] = answer.steps[i].samples;
    }
    out["steps"].push_back(std::move(row));
  }
  out["overlapping"] = nullptr;
  if (answer.overlapping) {
    out["overlapping"] = {{"outcome", answer.overlapping->outcome},
                          {"programmatic_edges", answer.overlapping->programmatic_edges},
                          {"overlapping_launches", answer.overlapping->overlapping_launches},
                          {"time_s", time_json(answer.overlapping_chain)},
                          {"chain_to_overlapping", ratio_json(answer.chain_to_overlapping)},
                          {"samples", answer.overlapping_chain.samples}};
  }
  return out;
}

}  // namespace pgtune::tool
