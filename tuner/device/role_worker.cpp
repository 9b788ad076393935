// SPDX-License-Identifier: MIT
#include "tuner/device/role_worker.hpp"

#include <fmt/format.h>

namespace pgtune::device {

RoleWorker::RoleWorker(const std::string& role, const RoleWorkerOptions& options)
    : worker_({.worker_path = options.worker_path,
               .gpu = options.gpu,
               .prepare_timeout = options.prepare_timeout,
               .role = role}),
      timeout_(options.request_timeout) {}

Result<RoleWorker> RoleWorker::open(const std::string& role, const RoleWorkerOptions& options) {
  RoleWorker worker(role, options);
  auto info = worker.worker_.start();
  if (!info) return fail(std::move(info.error()), fmt::format("GPU {}", options.gpu));
  worker.info_ = std::move(*info);
  return worker;
}

}  // namespace pgtune::device
