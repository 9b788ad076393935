// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/checked_build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "tool/pgtune/cli/command_error.hpp"
#include "tuner/device/compile_pool.hpp"
#include "tuner/session/pipeline/builds.hpp"

namespace pgtune::tool {
namespace {

protocol::BuildDone build(const Context& context, const CompileLimits& limits, protocol::BuildRequest request) {
  return value_or_throw(device::compile_one({.worker_path = context.paths().worker,
                                             .cache_dir = context.paths().cache,
                                             .jobs = 1,
                                             .build_timeout = limits.time,
                                             .memory_limit_bytes = limits.memory_bytes},
                                            std::move(request)));
}

}  // namespace

BuildInfo build_checked(const Context& context, const space::TemplateDefinition& definition, const Variant& variant,
                        const Problem& problem, const DeviceInfo& device, const CompileLimits& limits) {
  protocol::BuildDone done =
      build(context, limits, value_or_throw(session::make_build_request(definition, variant, problem, device)));
  if (done.outcome.kind != OutcomeKind::kOk) {
    const auto built_in = context.catalogue().all_names();
    const bool own = std::find(built_in.begin(), built_in.end(), definition.name) == built_in.end();
    throw CommandError(
        own && done.outcome.kind == OutcomeKind::kCompileFailed ? ErrorKind::kUsage : ErrorKind::kEnvironment,
        fmt::format("variant {} did not build ({}): {}", variant.key(), to_string(done.outcome.kind),
                    done.outcome.reason));
  }
  return std::move(done.build);
}

void check_reference(const Context& context, const Problem& problem, const DeviceInfo& device,
                     const CompileLimits& limits) {
  if (problem.is_gemm()) return;  // its reference is built in
  protocol::BuildRequest request;
  request.source = std::make_shared<const TemplateSource>();
  request.architecture = device.architecture;
  request.reference = *problem.operation;
  const protocol::BuildDone done = build(context, limits, std::move(request));
  if (done.outcome.kind != OutcomeKind::kOk) throw CommandError(ErrorKind::kUsage, done.outcome.reason);
}

}  // namespace pgtune::tool
