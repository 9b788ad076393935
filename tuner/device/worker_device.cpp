// SPDX-License-Identifier: MIT
#include "tuner/device/worker_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tuner/device/device_list.hpp"

namespace pgtune::device {
namespace {

/// A variant this many times slower than the best so far counts as hanging. One that is three times slower is cut after
/// one launch, so no longer wait occurs.
constexpr double kSlowestFactor = 100;
/// A launch as slow as this does not hang: right variants of large float32 problems reach some fifty times as much.
constexpr double kSlowestFlops = 1e12;
/// While a problem is prepared, its float64 reference and some hundred launches of a library run, each at 10 TFLOP/s
/// and more.
constexpr double kPreparedFlops = 1e11;
/// Placements of the operands in which a variant is checked.
constexpr int kCheckedLaunches = 2;
/// Time beyond a contender's sample of a round: the burst regime's pause; loading and calibration in the first round.
constexpr double kAroundSample_s = 0.2, kLongestLeadIn = 2;
// A settling lead-in may exceed its minimum by this much (gpu/measure/sample_timer.hpp).
constexpr double kLongestSettling_s = 2;

std::chrono::milliseconds milliseconds_of(double seconds) {
  constexpr double kLongest_s = 1e6;  // an operation may state flops that overflow a clock
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(std::min(seconds, kLongest_s)));
}

/// The report of a round of `count` contenders.
Result<protocol::RoundReport> decode_round(const nlohmann::json& body, std::size_t count) {
  auto report = protocol::decode_body<protocol::RoundReport>(body, "round report");
  if (report && (report->samples.size() != count || report->outcomes.size() != count))
    return fail(ErrorKind::kInternal, "malformed round report: not one sample and outcome for each contender");
  return report;
}

/// The part of a problem that may keep a worker from replying.
std::string what_may_hang(const protocol::PrepareRequest& request) {
  if (!request.problem.has_own_reference()) return {};
  const bool templates = std::any_of(request.builds.begin(), request.builds.end(),
                                     [](const auto& baseline) { return baseline.built.has_value(); });
  return fmt::format("the reference of the operation '{}'{} does not end, or takes too long for these sizes",
                     request.problem.operation_name(),
                     templates ? ", a kernel that fills its buffers or a template that it is compared with"
                               : " or a kernel that fills its buffers");
}

/// Turns a trial's reply into an event; an unreadable reply counts as the worker's crash.
TrialReport trial_report(const MeasureWorker::Answer& answer) {
  TrialReport report;
  if (!answer.body) {
    report.outcome = answer.body.error();
  } else if (auto done = protocol::decode_body<protocol::TrialDone>(*answer.body, "trial report")) {
    report = std::move(done->report);
  } else {
    report.outcome = {OutcomeKind::kCrashed, "measure worker sent a " + done.error().text()};
  }
  return report;
}

}  // namespace

Result<std::unique_ptr<WorkerDevice>> WorkerDevice::open(const Options& options) {
  std::unique_ptr<WorkerDevice> device(new WorkerDevice(options));
  auto info = device->measure_.start();
  if (!info) return fail(std::move(info.error()), fmt::format("GPU {}", options.gpu));
  device->info_ = std::move(*info);
  return device;
}

WorkerDevice::WorkerDevice(const Options& options)
    : worker_path_(options.worker_path),
      launch_floor_(options.launch_floor),
      trial_floor_(options.trial_floor),
      call_floor_(options.call_floor),
      service_(options.compile),
      compile_(service_->client()),
      measure_({.worker_path = options.worker_path,
                .gpu = options.gpu,
                .hello_timeout = options.hello_timeout,
                .prepare_timeout = options.prepare_timeout,
                .cache_dir = options.cache_dir}),
      neighbour_clocks_(options.at_work) {}

Result<BaselineReport> WorkerDevice::prepare(const protocol::PrepareRequest& request) {
  const auto start = SteadyClock::now();
  neighbour_clocks_.next_problem();
  const double flops = request.problem.flops();
  auto body = measure_.prepare(request, what_may_hang(request), milliseconds_of(flops / kPreparedFlops));
  prepare_s_ = std::chrono::duration<double>(SteadyClock::now() - start).count();
  if (!body) return tl::unexpected<Error>(std::move(body.error()));
  auto report = protocol::decode_body<BaselineReport>(*body, "baseline report");
  if (!report) return report;
  const auto first = static_cast<std::size_t>(report->first);
  baseline_s_ = first < report->algorithms.size() ? report->algorithms[first].time_s : 0;
  slow_s_ = flops / kSlowestFlops;
  return report;
}

void WorkerDevice::submit_build(protocol::BuildRequest request) { compile_->submit(std::move(request)); }

void WorkerDevice::submit_trial(protocol::TrialRequest request) {
  trial_ = request.id;
  request.launch_limit_s = launch_limit_s(request.incumbent_s);
  measure_.submit("trial", request, trial_limit(request.launch_limit_s));
}

double WorkerDevice::launch_limit_s(double incumbent_s) const {
  const bool both = incumbent_s > 0 && baseline_s_ > 0;
  const double best_s = both ? std::min(incumbent_s, baseline_s_) : std::max(incumbent_s, baseline_s_);
  // Without a baseline only the problem's size tells how long the first variants' launches take.
  return std::max(std::chrono::duration<double>(launch_floor_).count(), best_s > 0 ? kSlowestFactor * best_s : slow_s_);
}

std::chrono::milliseconds WorkerDevice::trial_limit(double launch_limit_s) const {
  return trial_floor_ + milliseconds_of(prepare_s_ + kCheckedLaunches * launch_limit_s);
}

std::chrono::milliseconds WorkerDevice::round_limit(const protocol::RoundRequest& request) const {
  const double settling_s = request.settle_s > 0 ? request.settle_s + kLongestSettling_s : 0;
  const double each_s = kAroundSample_s + settling_s + kLongestLeadIn * request.sample_s + launch_limit_s(0);
  return trial_floor_ + milliseconds_of(static_cast<double>(request.contenders.size()) * each_s);
}

Result<std::vector<protocol::Event>> WorkerDevice::wait(std::chrono::milliseconds timeout) {
  const SteadyClock::time_point until = SteadyClock::now() + timeout;
  std::vector<protocol::Event> events;
  for (;;) {
    TRY(poll(events));
    if (!events.empty() || SteadyClock::now() >= until) return events;

    std::vector<pollfd> fds;
    compile_->add_poll_fds(fds);
    measure_.add_poll_fds(fds);
    SteadyClock::time_point wake = until;
    if (const auto deadline = measure_.deadline()) wake = std::min(wake, *deadline);
    if (!wait_ready(fds, wake)) return events;
  }
}

Result<void> WorkerDevice::poll(std::vector<protocol::Event>& events) {
  if (auto built = compile_->poll(events); !built) return built;
  TRY_ASSIGN(auto answer, measure_.poll());
  if (answer) events.emplace_back(protocol::TrialDone{trial_, trial_report(*answer)});
  return {};
}

Result<protocol::RoundReport> WorkerDevice::run_round(const protocol::RoundRequest& request) {
  const std::size_t count = request.contenders.size();
  const int busy = neighbour_clocks_.busy();
  TRY_ASSIGN(auto answer, measure_.call("round", request, round_limit(request)));
  if (!answer.body || answer.context_lost) return run_one_by_one(request);
  auto report = decode_round(*answer.body, count);
  if (report) neighbour_clocks_.take(busy, request, *report);
  return report;
}

Result<protocol::VerifyReport> WorkerDevice::verify(const protocol::VerifyRequest& request) {
  // Each copy's float64 reference is computed, again if results differ, and finally copy 0's.
  constexpr double kPreparations = 4, kSlack = 3;
  protocol::VerifyRequest limited = request;
  limited.launch_limit_s = launch_limit_s(request.launch_s);
  const double expected_s = static_cast<double>(request.launches) * request.launch_s;
  TRY_ASSIGN(auto answer, measure_.call("verify", limited,
                                        call_floor_ + milliseconds_of(kPreparations * prepare_s_ +
                                                                      limited.launch_limit_s + kSlack * expected_s)));
  if (!answer.body) return protocol::VerifyReport{.outcome = answer.body.error()};
  return protocol::decode_body<protocol::VerifyReport>(*answer.body, "verification report");
}

template <typename T>
Result<T> WorkerDevice::call_for(const std::string& op, nlohmann::json body, double expected_s) {
  TRY_ASSIGN(auto answer, measure_.call(op, std::move(body), call_floor_ + milliseconds_of(expected_s)));
  if (!answer.body) return fail(ErrorKind::kInternal, answer.body.error().reason);
  return protocol::decode_body<T>(*answer.body, op);
}

Result<protocol::RowsReport> WorkerDevice::compare_rows(const protocol::RowsRequest& request) {
  constexpr double kLongest_s = 300;  // many times what the families' searches choose
  return call_for<protocol::RowsReport>("rows", request, kLongest_s);
}

Result<EnergyWindow> WorkerDevice::measure_energy(const protocol::EnergyRequest& request) {
  // The counter's first step may be a while off, and the last one too.
  return call_for<EnergyWindow>("energy", request, 2 * (request.lead_in_s + request.window_s));
}

Result<Ceilings> WorkerDevice::measure_ceilings() {
  return call_for<Ceilings>("ceilings", nlohmann::json::object(), 0);
}

OtherProcesses WorkerDevice::other_processes() {
  auto all = gpu_processes(worker_path_, info_.uuid);
  if (!all) return {};  // without NVML other processes are invisible; measure anyway
  return pgtune::other_processes(std::move(*all), measure_.pids());
}

Result<protocol::RoundReport> WorkerDevice::run_one_by_one(const protocol::RoundRequest& request) {
  const std::size_t count = request.contenders.size();
  protocol::RoundReport report{std::vector<std::optional<Sample>>(count), std::vector<Outcome>(count)};
  for (std::size_t position = 0; position < request.order.size(); ++position) {
    const auto index = static_cast<std::size_t>(request.order[position]);
    const protocol::RoundRequest alone{
        {request.contenders.at(index)}, {0}, request.round, request.stage, request.sample_s, request.settle_s};
    TRY_ASSIGN(auto answer, measure_.call("round", alone, round_limit(alone)));
    if (!answer.body) {
      report.outcomes[index] = answer.body.error();
      continue;
    }
    auto single = decode_round(*answer.body, 1);
    if (!single) return single;
    report.samples[index] = single->samples[0];
    report.outcomes[index] = std::move(single->outcomes[0]);
    if (report.samples[index]) report.samples[index]->position = static_cast<int>(position);
  }
  return report;
}

}  // namespace pgtune::device
