// SPDX-License-Identifier: MIT
// A pipeline device on the simulated machine: times are what the machine takes, plus a little that alternates.
#pragma once

#include <algorithm>
#include <set>
#include <utility>

#include "pipeline/plan/candidate.hpp"
#include "pipeline/plan/chunk_plan.hpp"
#include "pipeline/plan/machine.hpp"
#include "pipeline/search/pipeline_device.hpp"

namespace pgtune::device::test {

class SimulatedPipeline final : public PipelineDevice {
 public:
  pipeline::Machine machine;
  double flops = 1e13;
  double launch_s = 5e-6;       ///< of a kernel, whatever its size
  std::set<std::string> wrong;  ///< keys of candidates whose result is wrong
  bool fails_kernels = false, fails_guesses = false;
  std::vector<std::vector<protocol::ChunkKernel>> prepared_kernels;
  bool fails_later = false;  ///< the first trial after rounds is wrong
  double cap = 1;            ///< slowdown of kernels at the GPU's sustained clock
  std::optional<bool> batched_copies = true;
  pipeline::TimelineSource traced_by = pipeline::TimelineSource::kRecords;
  std::vector<int> host_nodes = {};
  double far = 1;                  ///< slowdown of host memory that is not on node 1
  double hidden_s = 0;             ///< more than the model knows, for each chunk
  std::vector<std::string> asked;  ///< keys of trials
  int rounds = 0;
  std::vector<protocol::PipelineRound> asked_rounds;

  const DeviceInfo& info() const override { return info_; }

  Result<pipeline::Prepared> prepare(const protocol::PipelinePrepare& request) override {
    streamed_ = request.streamed;
    kernels_ = request.kernels;
    prepared_kernels.push_back(kernels_);
    // Like a GPU it knows what kernels take without being asked: a worker that takes over is not.
    for (const pipeline::Cut cut : {pipeline::Cut::kM, pipeline::Cut::kN, pipeline::Cut::kK}) {
      for (const std::int64_t extent : chunk_extents(streamed_.problem, cut))
        machine.compute[cut][extent] = kernel_s(cut, extent);
    }
    return pipeline::Prepared{std::int64_t{1} << 40, request.pinned_limit_bytes,
                              streamed_.problem.m,   "simulated",
                              batched_copies,        host_nodes};
  }
  Result<pipeline::CopyRates> rates() override { return machine.rates; }
  Result<protocol::ChunkTimesReport> kernels(const protocol::ChunkTimesAsked& request) override {
    protocol::ChunkTimesReport report;
    if (fails_kernels || (fails_guesses && has_guesses())) return fail(ErrorKind::kInternal, "the worker crashed");
    for (const std::int64_t extent : request.extents)
      report.times.push_back({request.cut, extent, kernel_s(request.cut, extent), kernel_name(request.cut, extent)});
    return report;
  }
  Result<pipeline::SettledKernel> settled(const protocol::SettledKernelAsked& request) override {
    Sample sample;
    sample.launches = 100;
    sample.time_s = 100 * cap * kernel_s(request.cut, request.extent);
    sample.lead_in_s = request.settle_s;
    sample.power_cap_s = cap > 1 ? sample.time_s : 0;
    return pipeline::SettledKernel{request.cut, request.extent, sample};
  }
  Result<pipeline::TrialResult> trial(const protocol::PipelineTrial& request) override {
    asked.push_back(request.candidate.key());
    pipeline::TrialResult result;
    const bool is_wrong = wrong.count(asked.back()) > 0 || (rounds > 0 && std::exchange(fails_later, false));
    result.check = CheckReport{is_wrong ? 2.0 : 0.1, 0.001};
    if (is_wrong) {
      result.outcome = {OutcomeKind::kWrongResult, "element (0,0) was not written"};
      return result;
    }
    for (int i = 0; i < request.samples; ++i) result.samples.push_back(sample(request.candidate));
    return result;
  }
  Result<protocol::PipelineRoundReport> round(const protocol::PipelineRound& request) override {
    ++rounds;
    asked_rounds.push_back(request);
    protocol::PipelineRoundReport report;
    report.samples.resize(request.candidates.size());
    report.outcomes.resize(request.candidates.size());
    for (std::size_t position = 0; position < request.order.size(); ++position) {
      const auto index = static_cast<std::size_t>(request.order[position]);
      report.samples[index] = sample(request.candidates[index], request.settle_s);
      report.samples[index]->stage = request.stage;
      report.samples[index]->round = request.round;
      report.samples[index]->position = static_cast<int>(position);
    }
    return report;
  }
  Result<pipeline::StepTimes> steps(const pipeline::Candidate& /*candidate*/) override {
    return pipeline::StepTimes{static_cast<double>(streamed_.bytes_in()) / machine.rates.pinned_in,
                               streamed_.problem.flops() / flops,
                               static_cast<double>(streamed_.bytes_out()) / machine.rates.pinned_out};
  }
  Result<pipeline::Timeline> trace(const pipeline::Candidate& candidate) override {
    pipeline::Timeline timeline = simulate(machine, candidate, make_schedule(streamed_, candidate));
    timeline.source = traced_by;
    return timeline;
  }

 private:
  [[nodiscard]] bool has_guesses() const {
    return std::any_of(kernels_.begin(), kernels_.end(),
                       [](const protocol::ChunkKernel& kernel) { return kernel.guessed; });
  }
  [[nodiscard]] double kernel_s(pipeline::Cut cut, std::int64_t extent) const {
    const double share = static_cast<double>(extent) / static_cast<double>(extent_of(streamed_.problem, cut));
    return streamed_.problem.flops() / flops * share + launch_s;
  }
  /// The variant that was built for the first chunk, if any.
  [[nodiscard]] std::string kernel_name(pipeline::Cut cut, std::int64_t extent) const {
    const Problem problem = chunk_problem(streamed_, {.cut = cut, .chunk = extent}, {0, extent});
    for (const protocol::ChunkKernel& kernel : kernels_) {
      if (kernel.problem == problem) return kernel.built.variant.id();
    }
    return "simulated";
  }
  pipeline::RunSample sample(const pipeline::Candidate& candidate, double settle_s = 0) {
    const pipeline::Schedule schedule = make_schedule(streamed_, candidate);
    pipeline::Machine now = machine;
    if (settle_s > 0) {
      for (auto& [cut, times] : now.compute) {
        for (auto& [extent, time_s] : times) time_s *= cap;
      }
    }
    double time_s = simulate(now, candidate, schedule).total_s;
    time_s += hidden_s * static_cast<double>(schedule.chunks.size());
    if (candidate.host_node != 1) time_s *= far;
    // Loads of host memory take long, which the model does not know.
    if (candidate.memory == pipeline::HostMemory::kMapped) time_s *= 4;
    time_s *= 1 + 1e-4 * static_cast<double>(samples_++ % 5);
    pipeline::RunSample sample;
    sample.runs = 1;
    sample.host_s = time_s;
    sample.device_s = 0.99 * time_s;
    if (settle_s > 0) sample.lead_in_s = settle_s;
    return sample;
  }

  DeviceInfo info_;
  pipeline::StreamedProblem streamed_;
  std::vector<protocol::ChunkKernel> kernels_;
  int samples_ = 0;
};

}  // namespace pgtune::device::test
