// SPDX-License-Identifier: MIT
#include "tuner/gpu/chain/current_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pgtune::gpu {
namespace {

/// Launches of the graph that are judged, so that a start too early has several chances to show.
constexpr int kGraphTurns = 3;

/// Apart for neighbouring copies.
std::uint64_t seed_of_copy(std::uint64_t seed, std::size_t copy) { return seed + (copy + 1) * 0x9e3779b97f4a7c15ULL; }

tl::unexpected<Error> with_remedy(const CudaFailure& failure, const Chain& chain, std::int64_t bytes,
                                  std::size_t free_bytes) {
  if (failure.code != cudaErrorMemoryAllocation) return tl::unexpected(to_error(failure));
  return fail(ErrorKind::kUsage, fmt::format("{} needs {} bytes of GPU memory for its buffers and {} are free; choose "
                                             "smaller sizes or free memory on the GPU",
                                             chain.title(), bytes, free_bytes));
}

}  // namespace

Result<std::unique_ptr<CurrentChain>> CurrentChain::create(const MeasureContext& context,
                                                           const protocol::ChainPrepare& request) {
  if (auto ok = check_chain(request.chain); !ok) return tl::unexpected(ok.error());
  for (const ChainStep& step : request.chain.steps) {
    if (!step.problem.operation)
      return fail(ErrorKind::kInternal, fmt::format("nobody said in plain numbers what step '{}' is", step.name));
  }
  if (request.kernels.size() != request.chain.steps.size())
    return fail(ErrorKind::kInternal,
                fmt::format("{} variants for {} steps", request.kernels.size(), request.chain.steps.size()));
  std::unique_ptr<CurrentChain> current(new CurrentChain(context, request));
  if (auto ok = current->allocate(); !ok) return tl::unexpected(ok.error());
  const auto filled = current->fill().and_then(
      [&] { return pgtune::gpu::check(cudaStreamSynchronize(context.stream), "filling the chain's buffers"); });
  if (!filled) return tl::unexpected(to_error(filled.error()));
  return current;
}

Result<void> CurrentChain::allocate() {
  std::size_t free_bytes = 0, total_bytes = 0;
  if (auto ok = pgtune::gpu::check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free memory"); !ok)
    return tl::unexpected(to_error(ok.error()));
  const std::int64_t bytes = ChainMemory::copy_bytes(chain_);
  const std::int64_t copies =
      copy_count(chain_.bytes(), bytes, context_->l2_bytes, static_cast<std::int64_t>(free_bytes));
  auto memory = ChainMemory::allocate(context_->kernels, chain_, copies);
  if (!memory) return with_remedy(memory.error(), chain_, bytes * copies, free_bytes);
  memory_ = std::make_unique<ChainMemory>(std::move(*memory));
  auto snapshots = ChainSnapshots::allocate(chain_, *memory_);
  if (!snapshots) return with_remedy(snapshots.error(), chain_, bytes * copies, free_bytes);
  snapshots_ = std::make_unique<ChainSnapshots>(std::move(*snapshots));
  for (const ChainStep& step : chain_.steps) {
    auto alone = StepAlone::create(*context_, step.problem, conditions_);
    if (!alone) return fail(alone.error(), fmt::format("step '{}'", step.name));
    steps_.push_back(std::move(*alone));
  }
  return {};
}

CudaResult<> CurrentChain::fill() {
  for (std::size_t copy = 0; copy < memory_->copies(); ++copy) {
    if (auto ok = memory_->poison_all(copy, context_->stream); !ok) return ok;
  }
  return fill_buffers(std::vector<bool>(chain_.buffers.size(), true));
}

CudaResult<> CurrentChain::fill_buffers(const std::vector<bool>& wanted) {
  std::vector<bool> done(chain_.buffers.size());
  for (std::size_t i = 0; i < done.size(); ++i) done[i] = chain_.writer(i).has_value();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const ChainStep& step = chain_.steps[i];
    std::vector<bool> of_step;
    for (const std::int64_t buffer : step.buffers) {
      const auto place = static_cast<std::size_t>(buffer);
      of_step.push_back(!done[place] && wanted[place]);
      done[place] = true;
    }
    if (std::find(of_step.begin(), of_step.end(), true) == of_step.end()) continue;
    for (std::size_t copy = 0; copy < memory_->copies(); ++copy) {
      auto ok = steps_[i]->fill(memory_->operands(copy, step), of_step, seed_of_copy(conditions_.data_seed, copy));
      if (!ok) return ok;
    }
  }
  return {};
}

protocol::ChainPrepared CurrentChain::prepared() const {
  protocol::ChainPrepared out{static_cast<std::int64_t>(memory_->copies()), {}};
  for (const auto& step : steps_) {
    if (out.unguarded.empty()) out.unguarded = step->unguarded();
  }
  return out;
}

CudaResult<LoadedChain*> CurrentChain::loaded(bool overlapping) {
  auto& loaded = loaded_.at(overlapping ? 1 : 0);
  if (loaded == nullptr) {
    auto made = LoadedChain::load(*context_, chain_, kernels_, *memory_, overlapping);
    if (!made) return tl::unexpected(made.error());
    loaded = std::move(*made);
  }
  return loaded.get();
}

bool CurrentChain::note(std::size_t step, const CheckReport& found, const std::string& fault,
                        protocol::ChainCheck& report) const {
  if (!fault.empty()) {
    report.outcome = {OutcomeKind::kWrongResult, fmt::format("step '{}': {}", chain_.steps[step].name, fault)};
    return false;
  }
  if (report.steps.size() <= step) report.steps.resize(step + 1);
  CheckReport& worst = report.steps[step];
  worst.max_error = std::max(worst.max_error, found.max_error);
  worst.norm_error = std::max(worst.norm_error, found.norm_error);
  return true;
}

CudaResult<bool> CurrentChain::check_steps_alone(bool overlapping, protocol::ChainCheck& report) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const protocol::ChainKernel& kernel = kernels_[i];
    const auto verdict = steps_[i]->check(overlapping && kernel.overlapping ? *kernel.overlapping : kernel.alone);
    if (!verdict) return tl::unexpected(verdict.error());
    const std::string fault = verdict->fault.empty() ? "" : "by itself, " + verdict->fault;
    if (!note(i, verdict->report, fault, report)) return false;
  }
  return true;
}

CudaResult<bool> CurrentChain::judge_copy(std::size_t copy, protocol::ChainCheck& report) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto judged = steps_[i]->judge(snapshots_->found(copy, i), snapshots_->left(copy, i));
    if (!judged) return tl::unexpected(judged.error());
    if (!note(i, judged->report, judged->fault, report)) return false;
  }
  return true;
}

template <typename Enqueue>
CudaResult<bool> CurrentChain::judge_turn(LoadedChain& loaded, const Enqueue& enqueue, protocol::ChainCheck& report) {
  const cudaStream_t stream = context_->stream;
  CudaResult<> ok = loaded.reset(0, stream);
  for (std::size_t copy = 0; copy < memory_->copies() && ok; ++copy) ok = memory_->poison_results(copy, stream);
  // A launch goes on from what the one before has left there; this one is to begin with the data.
  std::vector<bool> restored(chain_.buffers.size());
  for (const std::size_t buffer : chain_.kept_up()) restored[buffer] = true;
  ok = ok.and_then([&] { return fill_buffers(restored); }).and_then(enqueue).and_then([&] {
    return pgtune::gpu::check(cudaStreamSynchronize(stream), "running the chain");
  });
  if (!ok) return tl::unexpected(ok.error());
  for (const std::size_t copy : snapshots_->copies()) {
    const auto right = judge_copy(copy, report);
    if (!right || !*right) return right;
  }
  return true;
}

CudaResult<> CurrentChain::enqueue_turn(LoadedChain& loaded) const {
  CudaResult<> ok;
  for (std::size_t copy = 0; copy < memory_->copies() && ok; ++copy)
    ok = loaded.launch_watched(copy, context_->stream, copy > 0,
                               [&](std::size_t step) { return snapshots_->keep(copy, step, context_->stream); });
  return ok;
}

CudaResult<protocol::ChainCheck> CurrentChain::check(bool overlapping) {
  protocol::ChainCheck report;
  auto right = check_steps_alone(overlapping, report);
  if (!right) return tl::unexpected(right.error());
  if (!*right) return report;
  const auto loaded = this->loaded(overlapping);
  if (!loaded) return tl::unexpected(loaded.error());
  right = judge_turn(
      **loaded, [&] { return enqueue_turn(**loaded); }, report);
  if (!right) return tl::unexpected(right.error());
  if (!*right) return report;

  const auto graph = record_graph(context_->stream, [&] { return enqueue_turn(**loaded); });
  if (!graph) return tl::unexpected(graph.error());
  const auto edges = programmatic_edges(graph->get());
  if (!edges) return tl::unexpected(edges.error());
  report.programmatic_edges = *edges;
  report.overlapping_launches = (*loaded)->overlapping_launches();
  const auto executable = instantiate_graph(graph->get(), context_->stream);
  if (!executable) return tl::unexpected(executable.error());
  for (int turn = 0; turn < kGraphTurns && *right; ++turn) {
    right = judge_turn(
        **loaded,
        [&] { return pgtune::gpu::check(cudaGraphLaunch(executable->get(), context_->stream), "launching a graph"); },
        report);
    if (!right) return tl::unexpected(right.error());
  }
  return report;
}

CudaResult<TimedSeries*> CurrentChain::series(const protocol::ChainContender& contender) {
  if (contender.step) {
    const auto step = static_cast<std::size_t>(*contender.step);
    return steps_.at(step)->series(kernels_[step].alone);
  }
  auto& series = series_.at(contender.overlapping ? 1 : 0);
  if (series == nullptr) {
    const auto loaded = this->loaded(contender.overlapping);
    if (!loaded) return tl::unexpected(loaded.error());
    auto made = TimedSeries::make(LaunchSeries(**loaded, {memory_->copies(), &context_->sweep}, context_->stream),
                                  context_->timer);
    if (!made) return tl::unexpected(made.error());
    series = std::make_unique<TimedSeries>(std::move(*made));
  }
  return series.get();
}

}  // namespace pgtune::gpu
