// SPDX-License-Identifier: MIT
#include "pipeline/worker/traced_run.hpp"

#include <utility>

#include "pipeline/plan/recorded_run.hpp"

namespace pgtune::gpu {
namespace {

using pipeline::Timeline;

/// The outer error is the pipeline's failure; the inner one says why there is no timeline.
template <typename T>
using Recorded = CudaResult<Result<T>>;

Result<void> number_streams(const LoadedPipeline& loaded, ActivityRecorder& recorder, pipeline::RecordedRun& run) {
  run.streams.clear();
  for (const cudaStream_t stream : loaded.streams()) {
    TRY_ASSIGN(const auto number, recorder.number_of(stream));
    run.streams.push_back(number);
  }
  return {};
}

/// `run` with what was recorded; of the calls before, which load what recording needs, nothing is kept.
Recorded<void> record_run(LoadedPipeline& loaded, ActivityRecorder& recorder, pipeline::RecordedRun& run) {
  pipeline::RunSample unused;
  const auto run_once = [&] {
    return loaded.run(unused, run.as_graph).and_then([] {
      return check(cudaDeviceSynchronize(), "running the pipeline");
    });
  };
  TRY(run_once());
  auto known = recorder.take().and_then([&](auto) { return recorder.now_ns(); });
  if (!known) return Result<void>(tl::unexpected<Error>(known.error()));
  run.begin_ns = *known;
  TRY(run_once());
  known = recorder.now_ns();
  if (!known) return Result<void>(tl::unexpected<Error>(known.error()));
  run.end_ns = *known;
  return recorder.take().map([&](auto activities) { run.activities = std::move(activities); });
}

Recorded<Timeline> timeline_of(LoadedPipeline& loaded, ActivityRecorder& recorder, pipeline::RecordedRun& run) {
  if (auto numbered = number_streams(loaded, recorder, run); !numbered)
    return Result<Timeline>(tl::unexpected<Error>(numbered.error()));
  return record_run(loaded, recorder, run).map([&](const Result<void>& recorded) {
    return recorded.and_then([&] { return timeline_of_records(loaded.schedule(), run); });
  });
}

Recorded<Timeline> trace_by_records(LoadedPipeline& loaded, ActivityRecorder& recorder) {
  pipeline::RecordedRun run;
  // Before recording, as captured work does not run.
  TRY_ASSIGN(auto pieces, loaded.pieces_of_products());
  run.pieces = std::move(pieces);
  if (auto started = recorder.start(); !started) return Result<Timeline>(tl::unexpected<Error>(started.error()));
  run.as_graph = loaded.is_graph();
  auto timeline = timeline_of(loaded, recorder, run);
  if (timeline && !*timeline && run.as_graph) {
    std::string reason = timeline->error().text();
    run.as_graph = false;
    timeline = timeline_of(loaded, recorder, run);
    if (timeline && *timeline) (*timeline)->reason = std::move(reason);
  }
  recorder.stop();
  return timeline;
}

}  // namespace

CudaResult<Timeline> trace_run(LoadedPipeline& loaded, const RecorderSource& open_recorder) {
  std::string reason;
  if (auto recorder = open_recorder()) {
    auto timeline = trace_by_records(loaded, **recorder);
    if (!timeline && timeline.error().sticky) return tl::unexpected(timeline.error());
    if (timeline && *timeline) {
      (*timeline)->as_loop = loaded.is_graph() && (*timeline)->reason.has_value();
      return std::move(**timeline);
    }
    reason = timeline ? timeline->error().text() : timeline.error().message();
  } else {
    reason = recorder.error().text();
  }
  // The first makes the events.
  return loaded.trace().and_then([&](const Timeline&) { return loaded.trace(); }).map([&](Timeline timeline) {
    timeline.as_loop = loaded.is_graph();
    timeline.reason = std::move(reason);
    return timeline;
  });
}

}  // namespace pgtune::gpu
