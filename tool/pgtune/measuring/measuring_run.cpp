// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/measuring_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/measuring/gpu_lock.hpp"
#include "tuner/device/worker_device.hpp"
#include "tuner/session/answer/answered.hpp"
#include "tuner/util/quiet_thread.hpp"

namespace pgtune::tool {
namespace {

std::unique_ptr<device::Device> open_gpu(const MeasuringRun::Shared& shared, const DeviceInfo& gpu) {
  device::WorkerDevice::Options options;
  options.worker_path = shared.context.paths().worker.string();
  options.gpu = gpu.uuid;
  options.compile = shared.compile;
  options.cache_dir = shared.context.paths().cache.string();
  options.at_work = shared.at_work;
  return value_or_throw(device::WorkerDevice::open(options));
}

/// Counts a GPU as working during its lifetime.
class AtWork {
 public:
  explicit AtWork(device::GpusAtWork& count) : count_(count) { ++count_; }
  ~AtWork() { --count_; }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

 private:
  device::GpusAtWork& count_;
};

}  // namespace

MeasuringRun::MeasuringRun(const Shared& shared, DeviceChoice choice)
    : shared_(shared),
      choice_(std::move(choice)),
      session_(shared.options.session),
      database_(db::Database::open(shared.options.database, db::OpenMode::kReadWriteCreate)),
      store_(database_) {
  if (const auto& request = shared.options.clock.request) lock_clock(*request);
}

std::string MeasuringRun::name() const { return fmt::format("GPU {}", *choice_.ordinal); }

void MeasuringRun::lock_clock(const LockRequest& request) {
  require_gpu();
  guard_ = value_or_throw(ClockGuard::lock(shared_.context.paths().worker.string(), choice_.info.uuid, request.mhz));
  session_.conditions.locked_sm_clock_hz = guard_->locked_hz();
}

void MeasuringRun::check_clock() const {
  if (!guard_ || guard_->holds()) return;
  throw CommandError(ErrorKind::kEnvironment,
                     "the guard that holds the GPU's clocks is gone, so they are not locked any more. Run the command "
                     "again.");
}

bool MeasuringRun::release_clock() {
  if (!guard_) return true;
  const auto released = guard_->release();
  if (!released) shared_.context.terminal().error(released.error().text());
  return released.has_value();
}

void MeasuringRun::hold_gpu(const std::function<bool()>& give_up) {
  if (!lock_) lock_ = lock_gpu(shared_.context, choice_.info.uuid, name(), shared_.options.wait, give_up);
}

void MeasuringRun::require_gpu() {
  hold_gpu([this] { return signals().exit_code().has_value(); });
  if (!lock_) throw CommandError(ErrorKind::kEnvironment, fmt::format("{} is still busy with another pgtune", name()));
}

device::Device& MeasuringRun::open(const Problem& problem, const session::ProgressCallback& progress) {
  if (gpu_ == nullptr) {
    require_gpu();
    session::Progress opening;  // which takes seconds on a large host
    opening.problem = problem;
    progress(opening);
    gpu_ = open_gpu(shared_, choice_.info);
    warn_of_others();
  }
  return *gpu_;
}

void MeasuringRun::warn_of_others() {
  const OtherProcesses others = gpu_->other_processes();
  if (others.processes.empty()) return;
  std::vector<std::string> who;
  for (const GpuProcess& process : others.processes) who.push_back(process.text());
  shared_.context.terminal().note(
      fmt::format("{} is not ours alone: {} computes there too, which spoils times. End it, or choose another GPU with "
                  "--device.",
                  name(), fmt::join(who, ", ")));
}

template <typename Session>
auto MeasuringRun::on_device(const Problem& problem, const Session& session) {
  const session::ProgressCallback progress = [this](const session::Progress& state) { view_->update(state); };
  device::Device& device = open(problem, progress);
  const AtWork at_work(*shared_.at_work);
  auto result = session(device, progress);
  view_->clear();
  return value_or_throw(std::move(result));
}

session::StoreKey MeasuringRun::key_of(const Problem& problem, const space::TemplateSet& templates) const {
  return {problem, templates, choice_.info, session_.conditions};
}

bool MeasuringRun::is_begun(const Problem& problem, const space::TemplateSet& templates) {
  return session::is_begun(store_, key_of(problem, templates), session_);
}

session::SearchResult MeasuringRun::search(const Problem& problem, const space::TemplateSet& templates,
                                           const session::Budget& budget) {
  session::SessionOptions options = session_;
  options.budget = budget;
  if (auto answer = session::answered_already(store_, key_of(problem, templates), options))
    return session::result_from_store(std::move(*answer));
  return on_device(problem, [&](device::Device& device, const session::ProgressCallback& progress) {
    return session::run_search(problem, templates, device, store_, options, signals().flag(), progress);
  });
}

session::FamilyResult MeasuringRun::search_family(const session::FamilyRequest& request,
                                                  const space::TemplateSet& templates) {
  if (auto known = session::stored_family(store_, request, templates, choice_.info, session_))
    return {.family = std::move(known), .from_store = true};
  return on_device(request.problem, [&](device::Device& device, const session::ProgressCallback& progress) {
    return session::run_family_search(request, templates, device, store_, session_, signals().flag(), progress);
  });
}

session::BenchResult MeasuringRun::bench(const Problem& problem, const space::TemplateSet& templates,
                                         const session::BenchRequest& request) {
  return on_device(problem, [&](device::Device& device, const session::ProgressCallback& progress) {
    return session::run_bench(problem, templates, device, store_, request, session_, signals().flag(), progress);
  });
}

}  // namespace pgtune::tool
