// SPDX-License-Identifier: MIT
// pgtune-worker: everything of pgtune that touches CUDA, as a child process that may crash, hang or be killed.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tool/worker/compile_service.hpp"
#include "tool/worker/consumer_service.hpp"
#include "tool/worker/doctor.hpp"
#include "tool/worker/guard.hpp"
#include "tool/worker/limits.hpp"
#include "tool/worker/line_channel.hpp"
#include "tool/worker/list_gpus.hpp"
#include "tool/worker/measure_service.hpp"
#include "tool/worker/options.hpp"
#include "tool/worker/process.hpp"
#include "tool/worker/room_roles.hpp"
#include "tuner/gpu/measure/measurer.hpp"

namespace pgtune::worker {
namespace {

// As pgtune's own exit codes.
constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;
constexpr int kExitEnvironment = 3;

Result<void> serve_compile(const WorkerOptions& options, LineChannel& channel) {
  Result<gpu::CubinCache> cache = gpu::CubinCache::open(options.cache_folder);
  if (!cache) return tl::unexpected(refuse(channel, std::move(cache.error())));
  std::optional<MemoryLimit> limit;
  if (options.memory_limit_bytes) {
    auto set = MemoryLimit::set(*options.memory_limit_bytes);
    if (!set) return tl::unexpected(refuse(channel, std::move(set.error())));
    limit = *set;
  }
  Result<gpu::Toolkit> toolkit = gpu::find_toolkit();
  if (!toolkit) return tl::unexpected(refuse(channel, std::move(toolkit.error())));
  CompileService service(gpu::Builder(std::move(*cache), std::move(*toolkit)), limit);
  return serve(channel, service);
}

Result<void> serve_consumer(const WorkerOptions& options, LineChannel& channel) {
  Result<std::unique_ptr<ConsumerService>> service = ConsumerService::open(options.gpu, options.library);
  if (!service) return tl::unexpected(refuse(channel, std::move(service.error())));
  auto served = serve(channel, **service);
  // As of a measure worker.
  if ((*service)->context_lost()) ::_exit(served ? 0 : kExitFailure);
  return served;
}

Result<void> run(const std::vector<std::string>& arguments) {
  const RoomRoles of_rooms = rooms();
  std::vector<std::string> room_roles;
  for (const auto& [name, serve_role] : of_rooms) room_roles.push_back(name);
  const Result<WorkerOptions> options = parse_options(arguments, room_roles);
  if (!options) return tl::unexpected(options.error());
  if (options->role == Role::kHelp) {
    fmt::print("{}", kUsage);
    return {};
  }
  const Result<int> replies = take_over_stdout();
  if (!replies) return tl::unexpected(replies.error());
  const Result<FileDescriptor> input = open_input(options->input);
  if (!input) return tl::unexpected(input.error());
  LineChannel channel(input->is_open() ? input->get() : STDIN_FILENO, *replies, protocol::kMaxLineBytes);
  // The guard has to outlive its parent; every other role ends with it.
  if (options->role == Role::kGuard)
    return options->restore ? restore_clocks(*options, channel) : guard_clocks(*options, channel);
  if (options->role == Role::kList) return channel.write_line(list_gpus_line());
  if (options->role == Role::kLimits) return channel.write_line(limits_line(options->gpu));
  if (options->role == Role::kProcesses) return channel.write_line(processes_line(options->gpu));

  // A file of requests ends by itself, and a profiler in between may start this process from a thread that ends first.
  if (!input->is_open()) {
    if (auto tied = tie_to_parent(); !tied) return tied;
  }
  if (options->role == Role::kDoctor) return channel.write_line(doctor_line(options->gpu));
  if (options->role == Role::kConsumer) return serve_consumer(*options, channel);
  if (options->role == Role::kOfRoom) return of_rooms.at(options->role_name)(*options, channel);
  if (options->role == Role::kMeasure) return serve_gpu<MeasureService, gpu::Measurer>(*options, channel);
  return serve_compile(*options, channel);
}

int exit_code(ErrorKind kind) {
  if (kind == ErrorKind::kUsage) return kExitUsage;
  return kind == ErrorKind::kEnvironment ? kExitEnvironment : kExitFailure;
}

}  // namespace
}  // namespace pgtune::worker

int main(int argc, char** argv) try {
  const pgtune::Result<void> result = pgtune::worker::run({argv + 1, argv + argc});
  if (result) return 0;
  fmt::print(stderr, "pgtune-worker: {}\n", result.error().text());
  return pgtune::worker::exit_code(result.error().kind);
} catch (const std::exception& exception) {
  std::fprintf(stderr, "pgtune-worker: %s\n", exception.what());
  return pgtune::worker::kExitFailure;
}
