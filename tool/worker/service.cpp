// SPDX-License-Identifier: MIT
#include "tool/worker/service.hpp"

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "tuner/gpu/measure/check/operation_kernels.hpp"

namespace pgtune::worker {
namespace {

Result<nlohmann::json> answer(Service& service, const protocol::Request& request, bool greeted) {
  if (request.op == "hello") return nlohmann::json(service.hello());
  if (!greeted) return fail(ErrorKind::kInternal, fmt::format("'{}' came before 'hello'", request.op));
  try {
    return service.handle(request);
  } catch (const std::exception& exception) {
    return fail(ErrorKind::kInternal, fmt::format("cannot handle '{}': {}", request.op, exception.what()));
  }
}

}  // namespace

protocol::Hello hello_of(std::string role, const DeviceInfo& device) {
  return {.protocol = protocol::kProtocolVersion,
          .role = std::move(role),
          .nvrtc_version = device.nvrtc_version,
          .device = device};
}

tl::unexpected<Error> unknown_operation(const protocol::Request& request) {
  return fail(ErrorKind::kInternal, fmt::format("this worker's role has no operation '{}'", request.op));
}

Result<void> serve(LineChannel& channel, Service& service) {
  bool greeted = false;
  while (true) {
    Result<std::optional<std::string>> line = channel.read_line();
    if (!line) return tl::unexpected(std::move(line.error()));
    if (!*line) return {};
    const Result<protocol::Request> request = protocol::decode_request(**line);
    if (!request) return tl::unexpected(request.error());

    protocol::Reply reply{request->id, answer(service, *request, greeted), false};
    greeted = greeted || request->op == "hello";
    reply.context_lost = service.context_lost();
    if (auto written = channel.write_line(protocol::encode(reply)); !written) return written;
    if (reply.context_lost) return {};
  }
}

Error refuse(LineChannel& channel, Error cause) {
  const Result<std::optional<std::string>> line = channel.read_line();
  if (!line || !*line) return cause;
  const Result<protocol::Request> request = protocol::decode_request(**line);
  if (!request) return cause;
  // A closed reader is no second error: the cause is returned nevertheless.
  std::ignore = channel.write_line(protocol::encode(protocol::Reply{request->id, tl::unexpected(cause), false}));
  return cause;
}

void keep_references(const WorkerOptions& options) {
  if (options.cache_folder.empty()) return;
  if (auto cache = gpu::CubinCache::open(options.cache_folder))
    gpu::OperationKernels::keep_cubins_in(std::move(*cache));
}

}  // namespace pgtune::worker
