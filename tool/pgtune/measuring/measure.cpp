// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/terminal/live_line.hpp"
#include "tool/pgtune/cli/terminal/quantity.hpp"
#include "tool/pgtune/measuring/device_choice.hpp"
#include "tool/pgtune/measuring/fleet.hpp"
#include "tool/pgtune/measuring/measuring_run.hpp"
#include "tuner/model/device_class.hpp"

namespace pgtune::tool {
namespace {

using Devices = std::vector<std::unique_ptr<MeasuringRun>>;

std::shared_ptr<device::CompileService> compile_service(const Paths& paths, const CompileLimits& limits,
                                                        std::size_t gpus) {
  device::CompilePool::Options options{.worker_path = paths.worker.string(),
                                       .cache_dir = paths.cache.string(),
                                       .jobs = limits.jobs,
                                       .build_timeout = limits.time,
                                       .memory_limit_bytes = limits.memory_bytes};
  // While one GPU races, others still build, so each of several keeps a core for its launches.
  if (options.jobs == 0 && gpus > 1) {
    const std::size_t jobs = device::default_compile_jobs(limits.memory_bytes);
    options.jobs = jobs > gpus ? jobs - gpus : 1;
  }
  return std::make_shared<device::CompileService>(std::move(options));
}

void announce_all(Terminal& terminal, const MeasuringOptions& options, const Devices& devices) {
  Announcement announcement{devices.front()->choice(), devices.front()->session(), options.database};
  for (const auto& device : devices) {
    if (device != devices.front()) announcement.other_devices.push_back(device->choice().description);
    if (std::string note = device->clock_note(); !note.empty()) announcement.clock_notes.push_back(std::move(note));
  }
  announce(terminal, announcement);
}

/// Of each problem, whether it is begun; empty if there is only one, or if none can be.
std::vector<bool> which_are_begun(const Work& work, MeasuringRun& device, const std::vector<Problem>& problems) {
  std::vector<bool> out;
  if (!work.begun || problems.size() == 1) return out;
  for (const Problem& problem : problems) out.push_back(work.begun(device, problem));
  return out;
}

/// The order in which one device measures them.
std::vector<Problem> in_turn(const std::vector<Problem>& problems, const std::vector<bool>& begun) {
  std::vector<Problem> first, last;
  for (std::size_t i = 0; i < problems.size(); ++i) (!begun.empty() && begun[i] ? last : first).push_back(problems[i]);
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

/// "3 of 46, 12m00s left; ": by the mean time of those that were measured; empty of a problem that is alone.
std::string list_text(std::size_t over, std::size_t problems, double spent_s, std::size_t measured) {
  if (problems == 1) return {};
  std::string text = fmt::format("{} of {}", over + 1, problems);
  if (measured > 0)
    text += fmt::format(", {} left",
                        duration_text(spent_s / static_cast<double>(measured) * static_cast<double>(problems - over)));
  return text + "; ";
}

ExitCode measure_on_one(MeasuringRun& device, const std::vector<Problem>& problems, Terminal& terminal,
                        ResultDocument& results, const Work& work) {
  LiveLine live(terminal);
  device.show_progress_in(live);
  ExitCode code = ExitCode::kDone;
  const auto signal = [&] { return device.signals().exit_code(); };
  std::size_t over = 0, measured = 0;
  double spent_s = 0;
  for (const Problem& problem : problems) {
    if (signal()) return worse(code, *signal());
    device.check_clock();
    live.set_before(list_text(over++, problems.size(), spent_s, measured));
    const auto start = std::chrono::steady_clock::now();
    try {
      code = worse(code, work.measure(device, problem)());
      const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (elapsed_s >= kMeasured_s) {
        spent_s += elapsed_s;
        ++measured;
      }
    } catch (const CommandError& error) {
      device.clear_progress();
      if (signal()) {  // which ends a wait too
        terminal.error(error.what());
        return worse(code, *signal());
      }
      const bool of_the_problem = error.kind() == ErrorKind::kUsage;
      if (problems.size() == 1 || !of_the_problem) throw;
      terminal.error(fmt::format("{}: {}", work.title(problem), error.what()));
      results.add_error(problem, error.what());
      code = worse(code, exit_code(error.kind()));
    }
  }
  return code;
}

/// False if a clock may still be locked.
bool release_clocks(const Devices& devices) {
  bool all = true;
  for (const auto& device : devices) {
    device->close_gpu();
    all = device->release_clock() && all;
  }
  return all;
}

}  // namespace

ExitCode measure(Context& context, const MeasuringOptions& options, const std::vector<DeviceChoice>& choices,
                 const std::vector<Problem>& problems, ResultDocument& results, const Work& work) {
  Terminal& terminal = context.terminal();
  const StopSignals signals;
  const MeasuringRun::Shared shared{.context = context,
                                    .options = options,
                                    .signals = signals,
                                    .compile = compile_service(context.paths(), options.compile, choices.size())};
  Devices devices;
  ExitCode code = ExitCode::kDone;
  try {
    for (const DeviceChoice& choice : choices) devices.push_back(std::make_unique<MeasuringRun>(shared, choice));
    announce_all(terminal, options, devices);
    terminal.detail(fmt::format("worker    {}", context.paths().worker.string()));
    terminal.detail(fmt::format("cubins    {}", context.paths().cache.string()));
    const std::vector<bool> last = which_are_begun(work, *devices.front(), problems);
    code = devices.size() == 1 ? measure_on_one(*devices.front(), in_turn(problems, last), terminal, results, work)
                               : measure_side_by_side(devices, problems, last, terminal, results, work);
  } catch (...) {
    (void)release_clocks(devices);
    throw;
  }
  return release_clocks(devices) ? code : worse(code, ExitCode::kEnvironment);
}

}  // namespace pgtune::tool
