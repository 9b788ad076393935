// SPDX-License-Identifier: MIT
#include "pipeline/worker/pipeline_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "pipeline/plan/chunk_plan.hpp"
#include "pipeline/worker/copy_rates.hpp"
#include "pipeline/worker/cupti_recorder.hpp"
#include "pipeline/worker/current_pipeline.hpp"
#include "pipeline/worker/loaded_pipeline.hpp"
#include "pipeline/worker/traced_run.hpp"
#include "tuner/gpu/measure/measuring_gpu.hpp"
#include "tuner/gpu/measure/sample_timer.hpp"

namespace pgtune::gpu {
namespace {

using pipeline::Candidate;
using pipeline::Step;
using Clock = std::chrono::steady_clock;

constexpr int kStepTimes = 3;

}  // namespace

/// Samples of whole runs, with clocks.
class RunSampler {
 public:
  /// `helpers` must outlive the sampler; `stream` is where clocks are read.
  [[nodiscard]] static CudaResult<RunSampler> create(const HelperKernels& helpers, int sm_count, cudaStream_t stream);

  /// Whole runs for `sample_s` at least, and one at least. With `settle_s`, runs before it until the clock stands still
  /// (SettlingRule, with this lead-in); whatever ran since the last such sample counts as idling.
  [[nodiscard]] CudaResult<pipeline::RunSample> sample(LoadedPipeline& loaded, double sample_s, double settle_s);

 private:
  [[nodiscard]] CudaResult<double> settle(LoadedPipeline& loaded, double settle_s) const;

  ClockMeter clock_;
  cudaStream_t stream_ = nullptr;
  Clock::time_point settled_end_;  ///< of the last settled sample
};

CudaResult<RunSampler> RunSampler::create(const HelperKernels& helpers, int sm_count, cudaStream_t stream) {
  TRY_ASSIGN(auto clock, ClockMeter::create(helpers, sm_count));
  RunSampler sampler;
  sampler.clock_ = std::move(clock);
  sampler.stream_ = stream;
  return sampler;
}

CudaResult<double> RunSampler::settle(LoadedPipeline& loaded, double settle_s) const {
  const SettlingRule rule =
      SettlingRule(settle_s).after(std::chrono::duration<double>(Clock::now() - settled_end_).count());
  std::vector<SettlingPoint> points;
  double end_s = 0;
  while (!has_settled(points, rule)) {
    pipeline::RunSample one;
    TRY(loaded.run(one));
    end_s += one.host_s;
    points.push_back({end_s, one.host_s});
  }
  return end_s;
}

CudaResult<pipeline::RunSample> RunSampler::sample(LoadedPipeline& loaded, double sample_s, double settle_s) {
  pipeline::RunSample sample;
  if (settle_s > 0) {
    TRY_ASSIGN(const auto lead_in_s, settle(loaded, settle_s));
    sample.lead_in_s = lead_in_s;
  }
  const auto wait = [&] { return check(cudaStreamSynchronize(stream_), "reading clocks"); };
  auto ok = clock_.clear(stream_).and_then([&] { return clock_.read_before(stream_); }).and_then(wait);
  do {
    ok = ok.and_then([&] { return loaded.run(sample); });
  } while (ok && sample.host_s < sample_s);
  if (settle_s > 0) settled_end_ = Clock::now();
  const auto clock_hz =
      ok.and_then([&] { return clock_.read_after(stream_); }).and_then(wait).and_then([&] { return clock_.mean_hz(); });
  if (!clock_hz) return tl::unexpected(clock_hz.error());
  if (*clock_hz > 0) sample.sm_clock_hz = *clock_hz;
  return sample;
}

struct PipelineRunner::State : MeasuringGpu {
  RunSampler sampler;
  std::unique_ptr<CurrentPipeline::Tools> tools;
  std::unique_ptr<CurrentPipeline> current;  ///< after what it uses: released first

  /// The kernel of chunks of one extent alone; nothing if they do not fit the GPU.
  [[nodiscard]] CudaResult<LoadedPipeline*> load_for_kernel(pipeline::Cut cut, std::int64_t extent);
  [[nodiscard]] Result<void> require_problem() const {
    if (current != nullptr && !context_lost) return {};
    return fail(ErrorKind::kInternal, "the worker has no pipeline prepared");
  }
};

CudaResult<LoadedPipeline*> PipelineRunner::State::load_for_kernel(pipeline::Cut cut, std::int64_t extent) {
  Candidate candidate{.cut = cut, .chunk = extent, .use = pipeline::StreamUse::kLanes};
  if (!why_illegal(current->streamed(), candidate, current->limits()).empty())
    candidate.memory = pipeline::HostMemory::kPageable;
  if (!why_illegal(current->streamed(), candidate, current->limits()).empty()) return nullptr;
  current->keep({});
  auto loaded = current->load(candidate);
  if (!loaded && !loaded.error().sticky && loaded.error().code == cudaErrorMemoryAllocation) return nullptr;
  return loaded;
}

PipelineRunner::PipelineRunner(std::unique_ptr<State> state) : state_(std::move(state)) {}
PipelineRunner::~PipelineRunner() = default;

Result<std::unique_ptr<PipelineRunner>> PipelineRunner::open(const std::string& gpu) {
  auto state = std::make_unique<State>();
  TRY(state->open(gpu));
  auto sampler = RunSampler::create(*state->kernels, state->info.sm_count, state->gpu.stream.get());
  if (!sampler) return tl::unexpected(to_error(sampler.error()));
  state->sampler = std::move(*sampler);
  state->tools = std::make_unique<CurrentPipeline::Tools>(CurrentPipeline::Tools{
      state->gpu.driver, *state->kernels, state->gpu.stream.get(), "cuBLASLt " + state->info.cublaslt_version,
      state->gpu.max_window_bytes, state->info.architecture});
  return std::unique_ptr<PipelineRunner>(new PipelineRunner(std::move(state)));
}

const DeviceInfo& PipelineRunner::info() const { return state_->info; }
bool PipelineRunner::context_lost() const { return state_->context_lost; }

Result<pipeline::Prepared> PipelineRunner::prepare(const protocol::PipelinePrepare& request) {
  state_->current.reset();
  auto current = CurrentPipeline::create(*state_->tools, request);
  if (!current) {
    // After any failure, only a working context can serve the next problem.
    state_->look_after_context();
    return fail(current.error(), "preparing " + request.streamed.title());
  }
  state_->current = std::move(*current);
  return state_->current->prepared();
}

Result<pipeline::CopyRates> PipelineRunner::rates() {
  TRY(state_->require_problem());
  state_->current->keep({});
  const pipeline::Limits& limits = state_->current->limits();
  auto rates = measure_copy_rates(limits.pinned_bytes);
  if (!rates) return tl::unexpected(state_->error_of(rates.error()));
  auto with_turns = measure_stream_turns(*rates, limits.pinned_bytes, *state_->kernels, limits.batched_copies);
  if (!with_turns) return tl::unexpected(state_->error_of(with_turns.error()));
  return std::move(*with_turns);
}

Result<protocol::ChunkTimesReport> PipelineRunner::kernels(const protocol::ChunkTimesAsked& request) {
  TRY(state_->require_problem());
  protocol::ChunkTimesReport report;
  for (const std::int64_t extent : request.extents) {
    const auto loaded = state_->load_for_kernel(request.cut, extent);
    if (!loaded) return tl::unexpected(state_->error_of(loaded.error()));
    if (*loaded == nullptr) continue;
    const auto time_s = (*loaded)->time_kernel();
    if (!time_s) return tl::unexpected(state_->error_of(time_s.error()));
    report.times.push_back({request.cut, extent, *time_s, (*loaded)->kernel_name()});
  }
  return report;
}

Result<pipeline::SettledKernel> PipelineRunner::settled(const protocol::SettledKernelAsked& request) {
  TRY(state_->require_problem());
  const auto loaded = state_->load_for_kernel(request.cut, request.extent);
  if (!loaded) return tl::unexpected(state_->error_of(loaded.error()));
  if (*loaded == nullptr) return fail(ErrorKind::kInternal, "chunks of that extent do not fit the GPU");
  LaunchSeries series = (*loaded)->kernel_series();
  const auto sample = (*loaded)->time_kernel().and_then([&](double about_s) {
    return state_->timer->time_settled(series, about_s, request.sample_s, SettlingRule(request.settle_s));
  });
  if (!sample) return tl::unexpected(state_->error_of(sample.error()));
  return pipeline::SettledKernel{request.cut, request.extent, *sample};
}

Result<pipeline::TrialResult> PipelineRunner::trial(const protocol::PipelineTrial& request) {
  TRY(state_->require_problem());
  CurrentPipeline& current = *state_->current;
  pipeline::TrialResult result;
  if (const std::string why = why_illegal(current.streamed(), request.candidate, current.limits()); !why.empty()) {
    result.outcome = {OutcomeKind::kInvalid, why};
    return result;
  }
  current.keep({request.candidate});
  const auto loaded = current.load(request.candidate);
  if (!loaded) {
    result.outcome = state_->outcome_of(loaded.error());
    return result;
  }
  const auto checked = current.check(**loaded);
  if (!checked) {
    result.outcome = state_->outcome_of(checked.error());
    return result;
  }
  result.check = checked->report;
  if (!checked->fault.empty()) {
    current.refuse_guesses(request.candidate);
    result.outcome = {OutcomeKind::kWrongResult, checked->fault};
    return result;
  }
  for (int i = 0; i < request.samples; ++i) {
    const auto sample = state_->sampler.sample(**loaded, request.sample_s, 0);
    if (!sample) {
      result.outcome = state_->outcome_of(sample.error());
      return result;
    }
    result.samples.push_back(*sample);
  }
  return result;
}

Result<protocol::PipelineRoundReport> PipelineRunner::round(const protocol::PipelineRound& request) {
  TRY(state_->require_problem());
  CurrentPipeline& current = *state_->current;
  const std::size_t count = request.candidates.size();
  protocol::PipelineRoundReport report;
  report.samples.resize(count);
  report.outcomes.resize(count);
  std::vector<int> sorted = request.order;
  std::sort(sorted.begin(), sorted.end());
  bool valid = sorted.size() == count;
  for (std::size_t i = 0; i < count && valid; ++i) valid = sorted[i] == static_cast<int>(i);
  if (!valid)
    return fail(ErrorKind::kInternal, fmt::format("a round's order must be a permutation of its {} candidates", count));
  current.keep(request.candidates);
  for (std::size_t position = 0; position < count && !state_->context_lost; ++position) {
    const auto index = static_cast<std::size_t>(request.order[position]);
    const auto loaded = current.load(request.candidates[index]);
    if (!loaded) {
      report.outcomes[index] = state_->outcome_of(loaded.error());
      continue;
    }
    auto sample = state_->sampler.sample(**loaded, request.sample_s, request.settle_s);
    if (!sample) {
      report.outcomes[index] = state_->outcome_of(sample.error());
      continue;
    }
    sample->stage = request.stage;
    sample->round = request.round;
    sample->position = static_cast<int>(position);
    report.samples[index] = *sample;
  }
  return report;
}

Result<pipeline::StepTimes> PipelineRunner::steps(const protocol::PipelineTrial& request) {
  TRY(state_->require_problem());
  state_->current->keep({request.candidate});
  const auto loaded = state_->current->load(request.candidate);
  if (!loaded) return tl::unexpected(state_->error_of(loaded.error()));
  pipeline::StepTimes times;
  const auto time = [&](Step step, double& median_s) -> CudaResult<> {
    std::vector<double> seconds;
    for (int i = 0; i < kStepTimes; ++i) {
      const auto took = (*loaded)->time_step(step);
      if (!took) return tl::unexpected(took.error());
      seconds.push_back(*took);
    }
    std::sort(seconds.begin(), seconds.end());
    median_s = seconds[kStepTimes / 2];
    return {};
  };
  auto ok = time(Step::kCopyIn, times.copy_in_s)
                .and_then([&] { return time(Step::kCompute, times.compute_s); })
                .and_then([&] { return time(Step::kCopyOut, times.copy_out_s); });
  if (!ok) return tl::unexpected(state_->error_of(ok.error()));
  return times;
}

Result<pipeline::Timeline> PipelineRunner::trace(const protocol::PipelineTraceAsked& request) {
  TRY(state_->require_problem());
  state_->current->keep({request.candidate});
  const auto loaded = state_->current->load(request.candidate);
  if (!loaded) return tl::unexpected(state_->error_of(loaded.error()));
  auto timeline = trace_run(**loaded, [&]() -> Result<std::unique_ptr<ActivityRecorder>> {
    if (!request.records) return fail(ErrorKind::kInternal, "no records were asked for");
    return CuptiRecorder::open(library_places());
  });
  if (!timeline) return tl::unexpected(state_->error_of(timeline.error()));
  return std::move(*timeline);
}

}  // namespace pgtune::gpu
