// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/measuring_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/terminal/live_line.hpp"
#include "tool/pgtune/measuring/announcement.hpp"
#include "tool/pgtune/measuring/clock_guard.hpp"
#include "tool/pgtune/replay/recording_loader.hpp"
#include "tuner/device/replay_device.hpp"
#include "tuner/device/worker_device.hpp"
#include "tuner/session/answer/answered.hpp"

namespace pgtune::tool {
namespace {

std::unique_ptr<device::Device> open_gpu(const Paths& paths, const DeviceInfo& gpu, const CompileLimits& compile) {
  device::WorkerDevice::Options options;
  options.worker_path = paths.worker.string();
  options.gpu = gpu.uuid;
  options.compile = std::make_shared<device::CompileService>(
      device::CompilePool::Options{.worker_path = paths.worker.string(),
                                   .cache_dir = paths.cache.string(),
                                   .jobs = compile.jobs,
                                   .build_timeout = compile.time,
                                   .memory_limit_bytes = compile.memory_bytes});
  return value_or_throw(device::WorkerDevice::open(options));
}

/// False where the clocks may still be locked.
bool release(Terminal& terminal, ClockGuard& guard) {
  const auto released = guard.release();
  if (!released) terminal.error(released.error().text());
  return released.has_value();
}

void require_lock(const ClockGuard& guard) {
  if (guard.holds()) return;
  throw CommandError(ErrorKind::kEnvironment,
                     "the guard that holds the GPU's clocks is gone, so they are not locked any more. Run the command "
                     "again.");
}

}  // namespace

MeasuringRun::MeasuringRun(Context& context, const MeasuringOptions& options, const DeviceChoice& choice, Clock clock,
                           const StopSignals& signals)
    : context_(context),
      options_(options),
      choice_(choice),
      clock_(std::move(clock)),
      signals_(signals),
      session_(options.session),
      database_(db::Database::open(options.database, db::OpenMode::kReadWriteCreate)),
      store_(database_) {
  session_.conditions.locked_sm_clock_hz = clock_.locked_hz;
}

ExitCode MeasuringRun::each(const std::vector<Problem>& problems, ResultDocument& results,
                            const std::function<ExitCode(const Problem&)>& work) {
  ExitCode code = ExitCode::kDone;
  for (const Problem& problem : problems) {
    clock_.check();
    try {
      code = worse(code, work(problem));
    } catch (const CommandError& error) {
      if (problems.size() == 1 || (error.kind() != ErrorKind::kUsage && choice_.source != Source::kReplay)) throw;
      context_.terminal().error(fmt::format("{}: {}", problem.title(), error.what()));
      results.add_error(problem, error.what());
      code = worse(code, exit_code(error.kind()));
    }
    if (signals_.exit_code()) break;
  }
  return code;
}

device::Device& MeasuringRun::open(const Problem& problem, const Answering& by,
                                   const session::ProgressCallback& progress) {
  if (by.device.source == Source::kReplay) {
    replay_ = std::make_unique<device::ReplayDevice>(load_recording(*by.device.recordings, by.templates, problem));
    return *replay_;
  }
  if (gpu_ == nullptr) {
    session::Progress opening;  // which takes seconds on a large host
    opening.problem = problem;
    progress(opening);
    gpu_ = open_gpu(context_.paths(), by.device.info, options_.compile);
  }
  return *gpu_;
}

template <typename Session>
auto MeasuringRun::on_device(const Problem& problem, const Answering& by, const Session& session) {
  announce_versions(context_.terminal(), by.templates);
  LiveLine live(context_.terminal());
  const session::ProgressCallback progress = [&live](const session::Progress& state) { live.update(state); };
  auto result = session(open(problem, by, progress), progress);
  live.clear();
  return value_or_throw(std::move(result));
}

session::SearchResult MeasuringRun::search(const Problem& problem, const Answering& by) {
  if (by.device.source == Source::kGpu) {
    const session::StoreKey key{problem, by.templates, by.device.info, Source::kGpu, session_.conditions};
    if (auto answer = session::answered_already(store_, key, session_))
      return session::result_from_store(std::move(*answer));
  }
  return on_device(problem, by, [&](device::Device& device, const session::ProgressCallback& progress) {
    return session::run_search(problem, by.templates, device, store_, session_, signals_.flag(), progress);
  });
}

session::BenchResult MeasuringRun::bench(const Problem& problem, const Answering& by,
                                         const session::BenchRequest& request) {
  return on_device(problem, by, [&](device::Device& device, const session::ProgressCallback& progress) {
    return session::run_bench(problem, by.templates, device, store_, request, session_, signals_.flag(), progress);
  });
}

ExitCode measure(Context& context, const MeasuringOptions& options, const DeviceChoice& choice,
                 const std::function<ExitCode(MeasuringRun&)>& work) {
  Terminal& terminal = context.terminal();
  const auto lock = options.clock.on(choice.source);
  const StopSignals signals;
  const auto run = [&](MeasuringRun::Clock clock, const std::string& clock_note) {
    session::SessionOptions session = options.session;
    session.conditions.locked_sm_clock_hz = clock.locked_hz;
    announce(terminal, {choice, session, options.database, clock_note});
    terminal.detail(fmt::format("worker    {}", context.paths().worker.string()));
    terminal.detail(fmt::format("cubins    {}", context.paths().cache.string()));
    MeasuringRun measuring(context, options, choice, std::move(clock), signals);
    return work(measuring);
  };
  if (!lock) return run({}, {});

  ClockGuard guard = value_or_throw(ClockGuard::lock(context.paths().worker.string(), choice.info.uuid, lock->mhz));
  ExitCode code = ExitCode::kDone;
  try {
    code = run({guard.locked_hz(), [&guard] { require_lock(guard); }}, guard.note());
  } catch (...) {
    (void)release(terminal, guard);
    throw;
  }
  return release(terminal, guard) ? code : worse(code, ExitCode::kEnvironment);
}

}  // namespace pgtune::tool
