// SPDX-License-Identifier: MIT
#include "tuner/session/answer/session_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "tuner/session/sample_pairs.hpp"
#include "tuner/stats/descriptive.hpp"
#include "tuner/stats/interval.hpp"

namespace pgtune::session {
namespace {

/// Precondition: something was counted.
std::string counts_note(const Problem& problem, const BaselineReport& baseline) {
  std::vector<std::string> texts;
  for (const NamedScalar& counted : baseline.counts) {
    std::string text = fmt::format("{} is {:.6g}", counted.name, counted.value);
    for (const OperationCount& count : problem.operation->counts) {
      if (count.name == counted.name) text += fmt::format(" ({:.6g} expected)", count.expected);
    }
    texts.push_back(std::move(text));
  }
  return fmt::format(
      "flops and bytes follow from what was counted in the data{}: {}",
      baseline.buffer_copies > 1 ? fmt::format(", in the mean of {} copies", baseline.buffer_copies) : "",
      fmt::join(texts, ", "));
}

/// The options of a problem of the same M, N and K whose operands cuBLASLt, and TMA, take as they are stored: along K,
/// in rows at multiples of 16 bytes. Precondition: elements of a byte.
std::string options_along_k(const Problem& problem) {
  const std::int64_t pitch = (problem.k + 15) / 16 * 16;
  return pitch == problem.k ? "--layout nt" : fmt::format("--layout nt --lda {0} --ldb {0}", pitch);
}

/// What launches copy for cuBLASLt, and what the product alone takes. Precondition: they copy something.
std::vector<std::string> copies_notes(const Problem& problem, const BaselineReport& baseline) {
  std::vector<std::string> notes{
      fmt::format("cuBLASLt takes {} only along K, in rows at multiples of 16 bytes{}: in every launch {} copied for "
                  "it, which is in its time as laying operands out is in pgtune's",
                  to_string(problem.dtype), baseline.copied.ends_with('D') ? ", and not all extents" : "",
                  baseline.copied + (baseline.copied.find(',') == std::string::npos ? " is" : " are"))};
  for (const OtherBaseline& other : baseline.others) {
    if (!other.is_laid_out_before() || other.time_s <= 0) continue;
    notes.push_back(
        fmt::format("cuBLASLt's product alone takes {:.4g} ms, of operands that were laid out before: store an operand "
                    "that does not change between calls along K once, and search the problem with both stored so ({})",
                    other.time_s * 1e3, options_along_k(problem)));
  }
  return notes;
}

constexpr double kSmallest = 0.01, kConfidence = 0.999;
constexpr int kFewestDegrees = 8;  ///< of freedom; below, scatter is not known well enough

struct Group {
  double count = 0, busy = 0, log_clock = 0;  ///< sums until they are divided
};

/// Sums of squares and products of what deviates from the groups' means.
struct Deviations {
  double busy = 0, both = 0, clock = 0;
};

}  // namespace

std::vector<std::string> baseline_notes(const Problem& problem, const BaselineReport& baseline) {
  std::vector<std::string> notes;
  const Activation activation = problem.epilogue.activation;
  if (!cublaslt_fuses(activation)) {
    notes.push_back(fmt::format(
        "cuBLASLt has no {0}: its time is that of the product without it, so the ratios compare {0} included "
        "with less work",
        to_string(activation)));
  }
  if (!baseline.enlarged_shape.empty()) {
    notes.push_back(fmt::format("cuBLASLt does not take {} in {}: it was timed on {}, with zeros added",
                                problem.shape(), to_string(problem.dtype), baseline.enlarged_shape));
  }
  if (!baseline.copied.empty()) {
    for (std::string& note : copies_notes(problem, baseline)) notes.push_back(std::move(note));
  }
  if (!baseline.counts.empty()) notes.push_back(counts_note(problem, baseline));
  for (const OtherBaseline& other : baseline.others) {
    if (!other.unavailable.empty())
      notes.push_back(fmt::format("{} is not there to be compared with: {}", other.library, other.unavailable));
  }
  if (!baseline.unguarded.empty()) {
    notes.push_back(
        fmt::format("variants were checked without unmapped memory around their buffers, so a far access out "
                    "of bounds may have gone unseen ({})",
                    baseline.unguarded));
  }
  return notes;
}

std::vector<std::string> check_notes(const Problem& problem) {
  if (!problem.has_own_reference()) return {};
  std::vector<std::string> notes;
  if (!problem.operation->null_test)
    notes.push_back(
        fmt::format("the operation '{}' leaves out the null test (\"null_test\": false): nothing shows that its check "
                    "tells a right result from a wrong one",
                    problem.operation_name()));
  for (const OperationBuffer& buffer : problem.operation->buffers) {
    if (!buffer.tolerated) continue;
    notes.push_back(fmt::format(
        "{} was judged by a tolerance of its operation's author (allclose, relative {:g}, absolute {:g}) and "
        "not by a derived bound: results that pass may be less exact than {} allows",
        buffer.title(), buffer.error.per_result, buffer.error.per_scale, to_string(buffer.type)));
  }
  return notes;
}

std::vector<std::string> data_notes(const Conditions& conditions) {
  if (!conditions.easy_data()) return {};
  return {
      fmt::format("the data are {}: few bits toggle, so the GPU draws less power and may run faster than on real "
                  "data; use uniform or normal data for figures that hold",
                  to_string(conditions.data))};
}

std::vector<std::string> clock_notes(const Conditions& conditions, const std::vector<Sample>& baseline_samples) {
  constexpr double kMoved = 0.03, kOutermost = 0.05;
  const auto clocks = clocks_hz(baseline_samples);
  if (clocks.empty()) return {};
  const double low_hz = stats::quantile(clocks, kOutermost), high_hz = stats::quantile(clocks, 1 - kOutermost);
  if (high_hz <= low_hz * (1 + kMoved)) return {};
  return {
      fmt::format("the baseline's clock moved from {:.0f} to {:.0f} MHz during the session ({:.1f} %): times depend "
                  "on when they were taken, ratios do not{}",
                  low_hz / 1e6, high_hz / 1e6, 100 * (high_hz / low_hz - 1),
                  conditions.locked_sm_clock_hz > 0 ? "" : "; --lock-clocks holds it")};
}

std::vector<std::string> power_notes(const std::vector<Sample>& final_samples) {
  constexpr double kShare = 0.05;
  double held_s = 0, time_s = 0;
  for (const Sample& sample : final_samples) {
    if (!sample.power_cap_s) continue;
    held_s += *sample.power_cap_s;
    time_s += sample.time_s + sample.lead_in_s.value_or(0);
  }
  if (held_s <= kShare * time_s) return {};
  return {fmt::format(
      "the power cap held the clocks down for {:.0f} % of the final's time: contenders are compared at equal "
      "power, not at equal clock",
      100 * std::min(held_s / time_s, 1.0))};
}

double share_in_graphs(const std::vector<Sample>& samples) {
  if (samples.empty()) return 0;
  const auto count = std::count_if(samples.begin(), samples.end(), [](const Sample& sample) { return sample.graph; });
  return static_cast<double>(count) / static_cast<double>(samples.size());
}

std::vector<std::string> launch_notes(const std::vector<Sample>& winner, const std::vector<Sample>& baseline) {
  constexpr double kUnequal = 0.1;
  if (winner.empty() || baseline.empty()) return {};
  const double ours = share_in_graphs(winner), theirs = share_in_graphs(baseline);
  if (std::abs(ours - theirs) < kUnequal) return {};
  return {fmt::format(
      "{:.0f} % of the winner's samples and {:.0f} % of the baseline's are of launches in CUDA graphs, which take 1 to "
      "3 us less than launches one by one: the ratio is too {} by what that is of a launch; measure again (--force)",
      100 * ours, 100 * theirs, ours > theirs ? "high" : "low")};
}

std::vector<std::string> shared_gpu_notes(const OtherProcesses& at_start, const OtherProcesses& at_end) {
  const auto in = [](const OtherProcesses& others, int pid) {
    return std::any_of(others.processes.begin(), others.processes.end(),
                       [&](const GpuProcess& process) { return process.pid == pid; });
  };
  std::vector<std::string> who;
  for (const GpuProcess& process : at_start.processes)
    who.push_back(process.text() + (in(at_end, process.pid) ? " from start to end" : " at the start"));
  for (const GpuProcess& process : at_end.processes) {
    if (!in(at_start, process.pid)) who.push_back(process.text() + " at the end");
  }
  if (who.empty()) return {};
  const bool own = at_start.own_among_them || at_end.own_among_them;
  return {fmt::format(
      "other processes computed on this GPU: {}{}. Times that were taken beside them are not to be trusted: "
      "measure again once they are gone",
      fmt::join(who, ", "), own ? " (pgtune's own is one of them, which this system numbers anew)" : "")};
}

std::optional<NeighbourShift> neighbour_shift(const std::vector<ClockBeside>& clocks) {
  std::map<int, Group> groups;
  for (const ClockBeside& sample : clocks) {
    Group& group = groups[sample.group];
    group.count += 1;
    group.busy += sample.busy;
    group.log_clock += std::log(sample.sm_clock_hz);
  }
  const int degrees = static_cast<int>(clocks.size()) - static_cast<int>(groups.size()) - 1;
  if (degrees < kFewestDegrees) return std::nullopt;

  Deviations sums;
  for (const ClockBeside& sample : clocks) {
    const Group& group = groups[sample.group];
    const double busy = sample.busy - group.busy / group.count;
    const double clock = std::log(sample.sm_clock_hz) - group.log_clock / group.count;
    sums.busy += busy * busy;
    sums.both += busy * clock;
    sums.clock += clock * clock;
  }
  if (sums.busy <= 0) return std::nullopt;  // the others were as many all the time
  const double slope = sums.both / sums.busy;
  const double scatter = std::max(sums.clock - slope * sums.both, 0.0) / degrees;
  const double chance = stats::student_t(kConfidence, degrees) * std::sqrt(scatter / sums.busy);

  const auto [fewest, most] = std::minmax_element(
      clocks.begin(), clocks.end(), [](const ClockBeside& a, const ClockBeside& b) { return a.busy < b.busy; });
  const NeighbourShift shift{fewest->busy, most->busy, std::expm1(slope * (most->busy - fewest->busy))};
  if (shift.relative > -kSmallest || -slope <= chance) return std::nullopt;
  return shift;
}

std::vector<std::string> neighbour_notes(const std::vector<ClockBeside>& clocks) {
  const auto shift = neighbour_shift(clocks);
  if (!shift) return {};
  return {fmt::format(
      "the baseline's clock on this GPU was {:.1f} % lower while {} other GPU{} of the machine worked than while "
      "{} did: they seem to share power or heat. Times depend on that, ratios do not",
      -100 * shift->relative, shift->most, shift->most == 1 ? "" : "s",
      shift->fewest == 0 ? std::string("none") : std::to_string(shift->fewest))};
}

}  // namespace pgtune::session
