// SPDX-License-Identifier: MIT
// Roles that rooms add to the worker (docs/architecture.md, "Rooms that stand on the core"), and how a role that has a
// GPU is served.
#pragma once

#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "tool/worker/options.hpp"
#include "tool/worker/service.hpp"

namespace pgtune::worker {

/// By the role's name; called after the process was tied to its parent.
using RoomRoles = std::map<std::string, std::function<Result<void>(const WorkerOptions&, LineChannel&)>>;

/// Of the rooms that this program was built with: generated (cmake/Rooms.cmake).
[[nodiscard]] RoomRoles rooms();

/// Lets references be kept as cubins in the options' folder, where there is one: without, every process compiles them,
/// which takes a third of a second.
void keep_references(const WorkerOptions& options);

/// Serves a role that has a GPU and opens it by its name alone, with Runner::open().
template <typename RoleService, typename Runner>
Result<void> serve_gpu(const WorkerOptions& options, LineChannel& channel) {
  keep_references(options);
  Result<std::unique_ptr<Runner>> runner = Runner::open(options.gpu);
  if (!runner) return tl::unexpected(refuse(channel, std::move(runner.error())));
  RoleService service(std::move(*runner));
  auto served = serve(channel, service);
  // Releasing what a lost context holds fails at best, and at worst waits for a kernel that never ends.
  if (service.context_lost()) ::_exit(served ? 0 : 1);
  return served;
}

}  // namespace pgtune::worker
