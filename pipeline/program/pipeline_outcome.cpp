// SPDX-License-Identifier: MIT
#include "pipeline/program/pipeline_outcome.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "pipeline/plan/schedule.hpp"
#include "pipeline/program/timeline_view.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/cli/terminal/result_document.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"
#include "tuner/util/fields_json.hpp"

namespace pgtune::tool {
namespace {

using session::MeasuredPipeline;
using session::PipelineAnswer;

std::string gigabytes(double bytes_per_s) { return fmt::format("{:.1f}", bytes_per_s * 1e-9); }
std::string ms(double seconds) { return milliseconds_text(seconds) + " ms"; }

/// Microseconds from one copy to the next, by the loop's use of streams, and from one batch to the next.
std::string turns_text(const pipeline::CopyRates& rates) {
  std::string text, batched;
  for (const pipeline::StreamTurn& turn : rates.turns.value_or(std::vector<pipeline::StreamTurn>{})) {
    if (turn.submission == pipeline::Submission::kBatched)
      batched = fmt::format("; {:.1f} us from a batch to the next", 1e6 * turn.turn_s);
    if (turn.submission != pipeline::Submission::kLoop) continue;
    const bool lanes = turn.use == pipeline::StreamUse::kLanes;
    text += fmt::format("{}{:.1f} us {}", text.empty() ? "" : ", ", 1e6 * turn.turn_s,
                        lanes ? "with a stream a worker" : fmt::format("with {} streams", turn.streams));
  }
  return text.empty() ? text : fact("turns", "from a copy to the next " + text + batched);
}

std::string copies_text(const pipeline::CopyRates& rates) {
  const auto both_ways = [](double in, double out, double in_both, double out_both) {
    return fmt::format("{} GB/s in, {} out; at once {} in, {} out", gigabytes(in), gigabytes(out), gigabytes(in_both),
                       gigabytes(out_both));
  };
  return fact("pinned", both_ways(rates.pinned_in, rates.pinned_out, rates.pinned_in_both, rates.pinned_out_both)) +
         fact("pageable",
              both_ways(rates.pageable_in, rates.pageable_out, rates.pageable_in_both, rates.pageable_out_both)) +
         turns_text(rates) +
         fact("host", fmt::format("{} GB/s between host buffers; {:.1f} us a small copy, {:.1f} us a call",
                                  gigabytes(rates.host_copy), 1e6 * rates.latency_s, 1e6 * rates.issue_s));
}

/// The kernel of the best one's chunks.
std::string kernel_text(const PipelineAnswer& answer) {
  for (const pipeline::ChunkTime& time : answer.chunk_times) {
    if (time.cut == answer.best.candidate.cut && time.extent == answer.best.candidate.chunk)
      return fact("kernel", fmt::format("{}: {} alone for a chunk", time.kernel, ms(time.time_s)));
  }
  return {};
}

std::string clock_text(double sm_clock_hz) { return fmt::format("{:.0f} MHz", 1e-6 * sm_clock_hz); }

/// The kernel of the bound's chunks, once the clock was stable.
std::string settled_text(const PipelineAnswer& answer) {
  if (!answer.settled) return {};
  const Sample& sample = answer.settled->sample;
  std::string text = fmt::format("{} for a chunk of {} {} in launches of its own", ms(sample.per_launch_s()),
                                 to_string(answer.settled->cut), answer.settled->extent);
  if (sample.sm_clock_hz > 0) text += " at " + clock_text(sample.sm_clock_hz);
  if (answer.slowdown)
    text +=
        fmt::format(", {:.3f} times as long as in a few: the power cap, at which bound, expected times and rounds are",
                    *answer.slowdown);
  return fact("settled", text);
}

std::string bound_text(const PipelineAnswer& answer) {
  const pipeline::Bound& bound = answer.bound;
  std::string text = fmt::format("{}: {} {}", ms(bound.total_s), to_string(bound.limiter), ms(bound.work_s));
  if (bound.fill_s > 0) text += fmt::format(", fill {}", ms(bound.fill_s));
  if (bound.drain_s > 0) text += fmt::format(", drain {}", ms(bound.drain_s));
  return fact("bound", fmt::format("{} (chunks of {} {})", text, to_string(answer.bound_cut), answer.bound_chunk));
}

/// NUMA nodes of the host, if there are several.
std::string nodes_text(const PipelineAnswer& answer) {
  if (answer.prepared.host_nodes.empty()) return {};
  return fact("nodes", fmt::format("{} of the host, to choose from for registered memory",
                                   fmt::join(answer.prepared.host_nodes, ", ")));
}

std::string share_text(const PipelineAnswer& answer, const MeasuredPipeline& measured) {
  const double share = answer.share_of_bound(measured);
  return share > 0 ? fmt::format("{:.1f} %", 100 * share) : "";
}

std::string best_text(const PipelineOutcome& outcome) {
  const PipelineAnswer& answer = outcome.answer;
  const MeasuredPipeline& best = answer.best;
  std::string text = fact("best", best.candidate.text());
  const std::string clock = best.sm_clock_hz ? ", at " + clock_text(*best.sm_clock_hz) : "";
  text += fact("", fmt::format("{} (spread {:.2f} %; {} between events{}), {} of the bound, {} TFLOP/s",
                               ms(best.time_s), 100 * best.spread, ms(best.device_s), clock, share_text(answer, best),
                               tflops_text(outcome.streamed.problem.flops(), best.time_s)));
  if (const session::MeasuredRung* const serial = answer.serial(); serial != nullptr && answer.serial_to_best.pairs > 0)
    text += fact("", fmt::format("{:.3f} times as fast as the {} ({:.3f} to {:.3f})", answer.serial_to_best.ratio,
                                 serial->name, answer.serial_to_best.low, answer.serial_to_best.high));
  return text;
}

/// No pipeline beats a bound from the rates that it had.
std::string beaten_text(const PipelineAnswer& answer) {
  constexpr double kBeyondNoise = 1.005;
  if (answer.best.candidate.memory == pipeline::HostMemory::kMapped ||
      answer.share_of_bound(answer.best) < kBeyondNoise)
    return {};
  return fact("note",
              "the best takes less than the bound: copies or kernels were faster in it than when their rates were "
              "measured, so the bound is too high and shares of it are too good; --force measures them anew");
}

std::string steps_text(const PipelineOutcome& outcome) {
  if (!outcome.answer.steps) return {};
  const pipeline::StepTimes& steps = *outcome.answer.steps;
  const auto copy = [](const char* name, double seconds, std::int64_t bytes) {
    return bytes == 0
               ? std::string()
               : fmt::format("{} {} ({} GB/s), ", name, ms(seconds), gigabytes(static_cast<double>(bytes) / seconds));
  };
  return fact("alone",
              fmt::format("{}{}compute {}", copy("copy in", steps.copy_in_s, outcome.streamed.bytes_in()),
                          copy("copy out", steps.copy_out_s, outcome.streamed.bytes_out()), ms(steps.compute_s)));
}

std::string guess_text(const PipelineAnswer& answer) {
  const MeasuredPipeline& guess = answer.guess;
  if (guess.samples == 0) return {};
  std::string text =
      fmt::format("{}; {} expected, {} measured", guess.candidate.text(), ms(guess.expected_s), ms(guess.time_s));
  if (answer.guess_to_best.pairs > 0)
    text += fmt::format(", {:.3f} times the best's ({:.3f} to {:.3f})", answer.guess_to_best.ratio,
                        answer.guess_to_best.low, answer.guess_to_best.high);
  return fact("guess", text);
}

std::string ladder_text(const PipelineAnswer& answer) {
  TextTable table({{"step"},
                   {"ms", Align::kRight},
                   {"expected", Align::kRight},
                   {"of bound", Align::kRight},
                   {"pipeline", Align::kLeft, Wrap::kWords}});
  const auto add = [&](const std::string& name, const MeasuredPipeline& measured) {
    if (measured.samples == 0 && measured.outcome.kind == OutcomeKind::kOk) return;
    const bool right = measured.outcome.kind == OutcomeKind::kOk;
    table.add_row({name, right ? milliseconds_text(measured.time_s) : std::string(to_string(measured.outcome.kind)),
                   milliseconds_text(measured.expected_s), right ? share_text(answer, measured) : "",
                   measured.candidate.text()});
  };
  for (const session::MeasuredRung& rung : answer.ladder) {
    if (!rung.trap) add(rung.name, rung.measured);
  }
  add("first guess", answer.guess);
  add("tuned", answer.best);
  for (const session::MeasuredRung& rung : answer.ladder) {
    if (rung.trap) add(rung.name, rung.measured);
  }
  return table.empty() ? std::string() : "\n" + table.text();
}

}  // namespace

std::string pipeline_text(const PipelineOutcome& outcome) {
  const PipelineAnswer& answer = outcome.answer;
  std::string text = outcome.streamed.title() + "\n" + copies_text(answer.rates);
  if (!outcome.any_valid) return text + fact("best", "none: no candidate was right");
  text += nodes_text(answer) + kernel_text(answer) + settled_text(answer) + bound_text(answer) + best_text(outcome) +
          steps_text(outcome) + guess_text(answer);
  text += fact("check", fmt::format("{} of {} rows of D against float64", answer.prepared.checked_rows,
                                    outcome.streamed.problem.m));
  text += beaten_text(answer);
  for (const std::string& note : answer.notes) text += fact("note", note);
  text += ladder_text(answer);
  if (answer.timeline)
    text += "\n" + timeline_text(make_schedule(outcome.streamed, answer.best.candidate), *answer.timeline, kTextWidth);
  return text;
}

nlohmann::json pipeline_json(const PipelineOutcome& outcome) {
  const PipelineAnswer& answer = outcome.answer;
  nlohmann::json out = answer;
  out.erase("streamed");  // as "problem" and "stream" below
  out["schema"] = kJsonSchema;
  out["problem"] = outcome.streamed.problem;
  out["stream"] = outcome.streamed.stream_text();
  out["device"] = outcome.device;
  out["device_class"] = device_class(outcome.device).text();
  out["measured_on"] = outcome.board;
  out["from_database"] = outcome.from_database;
  const double share = answer.share_of_bound(answer.best);
  out["share_of_bound"] = share > 0 ? nlohmann::json(share) : nlohmann::json(nullptr);
  if (!outcome.any_valid) out["best"] = nullptr;
  if (answer.timeline) {
    const auto gaps = gaps_of(make_schedule(outcome.streamed, answer.best.candidate), *answer.timeline,
                              1e-3 * answer.timeline->total_s);
    out["gaps"] = nlohmann::json::array();
    for (const pipeline::Gap& gap : gaps) out["gaps"].push_back(gap);
  }
  return out;
}

}  // namespace pgtune::tool
