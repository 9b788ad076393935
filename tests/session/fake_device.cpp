// SPDX-License-Identifier: MIT
#include "fake_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace pgtune::session {
namespace {

/// Evenly within +-1/2.
double noise_of(const std::string& name, Stage stage, int round, int position) {
  std::uint64_t hash = 1469598103934665603ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  hash ^=
      static_cast<std::uint64_t>((static_cast<int>(stage) * 1024 + round) * 1024 + position) * 0x9E3779B97F4A7C15ULL;
  hash ^= hash >> 29;
  hash *= 0xBF58476D1CE4E5B9ULL;
  hash ^= hash >> 32;
  return static_cast<double>(hash % 1000) / 1000 - 0.5;
}

Sample sample_of(const std::string& name, Stage stage, double time_s, double noise, int round, int position) {
  constexpr std::int64_t kLaunches = 10;
  Sample sample;
  sample.stage = stage;
  sample.round = round;
  sample.position = position;
  sample.launches = kLaunches;
  sample.time_s = time_s * kLaunches * (1 + noise * noise_of(name, stage, round, position));
  sample.sm_clock_hz = 1.98e9;
  return sample;
}

}  // namespace

std::string contender_name(const Contender& contender) {
  if (const auto* const algorithm = algorithm_of(contender)) return "ref" + std::to_string(algorithm->index);
  return variant_of(contender)->key();
}

FakeDevice::FakeDevice(Plan plan) : plan_(std::move(plan)) {
  device_info.uuid = "GPU-fake";
  device_info.name = "Fake GPU";
  device_info.architecture = "sm_90a";
  device_info.compute_major = 9;
  device_info.sm_count = 132;
  device_info.memory_bytes = std::int64_t{1} << 30;
  device_info.power_limit_w = 700;
  device_info.smem_per_block_bytes = 232448;
  device_info.smem_per_sm_bytes = 233472;
  device_info.registers_per_sm = 65536;
  device_info.threads_per_sm = 2048;
  device_info.driver_version = "580.1";
  baseline.library = "cuBLASLt";
  baseline.algorithms = {{0, "first", 0, 1.2e-3, 0.1}, {3, "third", 0, 1.1e-3, 0.1}};
  baseline.first = 0;
  baseline.best = 1;
}

Result<BaselineReport> FakeDevice::prepare(const protocol::PrepareRequest& request) {
  ++prepared;
  prepare_request = request;
  return request.alone ? BaselineReport{} : baseline;
}

void FakeDevice::submit_build(protocol::BuildRequest request) {
  if (sees_build) sees_build(request);
  builds.push_back(request.variant.key());
  const double done_s = now_s + plan_(request.variant).build_s;
  building_.emplace(done_s, std::move(request));
  most_building = std::max(most_building, building_.size());
}

void FakeDevice::submit_trial(protocol::TrialRequest request) {
  EXPECT_GE(prepared, 1) << "a trial before the problem was prepared";
  EXPECT_TRUE(trying_.empty()) << "two trials in flight";
  trials.push_back(request.built.variant.key());
  incumbents_s.push_back(request.incumbent_s);
  --ready_;
  trying_.emplace(now_s + trial_s, std::move(request));
}

Result<std::vector<protocol::Event>> FakeDevice::wait(std::chrono::milliseconds timeout) {
  if (dies_after_trials > 0 && trials.size() > dies_after_trials) {
    return fail(ErrorKind::kEnvironment, "no worker can be started");
  }
  const double until_s = now_s + std::chrono::duration<double>(timeout).count();
  double next_s = until_s;
  if (!building_.empty()) next_s = std::min(next_s, building_.begin()->first);
  if (!trying_.empty()) next_s = std::min(next_s, trying_.begin()->first);
  now_s = std::max(now_s, next_s);
  std::vector<protocol::Event> events;
  while (!building_.empty() && building_.begin()->first <= now_s) {
    events.push_back(finish_build(building_.extract(building_.begin()).mapped()));
  }
  if (!trying_.empty() && trying_.begin()->first <= now_s) {
    events.push_back(finish_trial(trying_.extract(trying_.begin()).mapped()));
    if (after_trial) after_trial();
  }
  return events;
}

protocol::Event FakeDevice::finish_build(const protocol::BuildRequest& request) {
  const Script script = plan_(request.variant);
  protocol::BuildDone done{request.id, script.build, {}};
  if (script.build.kind == OutcomeKind::kOk) {
    done.build.cubin_hash = script.cubin.empty() ? "cubin of " + request.variant.key() : script.cubin;
    done.build.cubin_path = "/cache/" + request.variant.key();
    done.build.registers = 64;
    done.build.spill_bytes = script.spill_bytes;
    if (script.spill_bytes == 0) most_ready = std::max(most_ready, ++ready_);
  }
  return done;
}

protocol::Event FakeDevice::finish_trial(const protocol::TrialRequest& request) {
  const Script script = plan_(request.built.variant);
  protocol::TrialDone done{request.id, {}};
  done.report.outcome = script.trial;
  if (script.trial.kind != OutcomeKind::kOk) return done;
  done.report.cut = request.incumbent_s > 0 && script.time_s > 1.5 * request.incumbent_s;
  const int samples = done.report.cut ? 1 : 3;
  for (int i = 0; i < samples; ++i) {
    const std::string name = request.built.variant.key();
    done.report.samples.push_back(powered ? powered_sample(name, 0, powered->screening_s)
                                          : sample_of(name, Stage::kScreen, script.time_s, noise, 0, i));
    done.report.samples.back().graph = baseline.in_graphs && script.time_s < kNoGraph_s;
  }
  return done;
}

/// Its stage, round and position are the caller's to set.
Sample FakeDevice::powered_sample(const std::string& name, double lead_in_s, double timed_s) {
  const auto measured = powered->model.sample(powered->load(name), lead_in_s, timed_s);
  Sample sample;
  sample.launches = std::max<std::int64_t>(std::llround(timed_s / measured.launch_s), 1);
  sample.time_s = measured.launch_s * static_cast<double>(sample.launches);
  sample.sm_clock_hz = measured.clock_hz;
  sample.power_cap_s = measured.clock_hz < support::PowerGpu{}.top_hz ? sample.time_s : 0;
  powered_w_ = measured.power_w;
  now_s += lead_in_s + timed_s;
  return sample;
}

Result<protocol::RoundReport> FakeDevice::run_round(const protocol::RoundRequest& request) {
  EXPECT_TRUE(trying_.empty()) << "a round with a trial in flight";
  const bool before_screening = request.stage == Stage::kSteady || request.stage == Stage::kFloor;
  EXPECT_TRUE(building_.empty() || before_screening) << "a round with builds in flight";
  protocol::RoundReport report;
  report.samples.resize(request.contenders.size());
  report.outcomes.resize(request.contenders.size());
  std::vector<std::string> names;
  for (std::size_t position = 0; position < request.order.size(); ++position) {
    const auto i = static_cast<std::size_t>(request.order[position]);
    const protocol::BuiltContender& contender = request.contenders[i];
    names.push_back(contender_name(protocol::contender_of(contender)));
    Script script;
    if (const BaselineAlgorithm* const algorithm = algorithm_of(contender)) {
      script.time_s = baseline.algorithms[static_cast<std::size_t>(algorithm->index)].time_s;
    } else {
      const protocol::BuiltVariant& built = *variant_of(contender);
      EXPECT_FALSE(built.build.cubin_hash.empty());
      EXPECT_FALSE(built.plan.kernels.empty());
      script = plan_(built.variant);
    }
    if (script.fails_in_round == request.round && script.fails_in == request.stage) {
      report.outcomes[i] = {OutcomeKind::kWrongResult, "wrong in a round"};
      continue;
    }
    if (powered) {
      const bool settled = request.settle_s > 0;
      report.samples[i] =
          powered_sample(names.back(), settled ? request.settle_s : powered->lead_in_s, request.sample_s);
      if (settled) {
        report.samples[i]->lead_in_s = request.settle_s;
        report.samples[i]->power_w = powered_w_;
      }
      continue;
    }
    const double drift = 1 + drift_per_round * request.round;
    report.samples[i] =
        sample_of(names.back(), request.stage, script.time_s * drift, noise, request.round, static_cast<int>(position));
  }
  if (spoil) spoil(request, report);
  rounds[request.stage].push_back(std::move(names));
  sample_s[request.stage] = request.sample_s;
  if (!powered) now_s += round_s;
  if (after_round) after_round(request.stage);
  return report;
}

Result<protocol::VerifyReport> FakeDevice::verify(const protocol::VerifyRequest& request) {
  EXPECT_TRUE(building_.empty() && trying_.empty()) << "a verification with work in flight";
  verify_requests.push_back(request);
  now_s += static_cast<double>(request.launches) * request.launch_s;
  const Script script = plan_(request.built.variant);
  protocol::VerifyReport report{.outcome = script.verified, .launches = request.launches, .copies = 2};
  report.deterministic = script.deterministic;
  return report;
}

Result<protocol::RowsReport> FakeDevice::compare_rows(const protocol::RowsRequest& request) {
  EXPECT_TRUE(building_.empty() && trying_.empty()) << "rows compared with work in flight";
  rows_requests.push_back(request);
  return protocol::RowsReport{wrong_rows, std::ssize(request.products)};
}

Result<EnergyWindow> FakeDevice::measure_energy(const protocol::EnergyRequest& request) {
  EXPECT_TRUE(building_.empty() && trying_.empty()) << "an energy window with work in flight";
  energy_requests.push_back(request);
  now_s += request.lead_in_s + request.window_s;
  if (energy) return energy(request);
  return fail(ErrorKind::kEnvironment, "the fake GPU has no energy counter");
}

Result<Ceilings> FakeDevice::measure_ceilings() {
  ++ceilings_measured;
  return Ceilings{4e12, 6e12, 20e12, {{"f32", 60e12}}, 1.98e9};
}

}  // namespace pgtune::session
