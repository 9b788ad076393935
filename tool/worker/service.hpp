// SPDX-License-Identifier: MIT
// What a role answers, and the loop that asks it. The protocol is tuner/protocol/codec.hpp's.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tool/worker/line_channel.hpp"
#include "tool/worker/options.hpp"
#include "tuner/protocol/codec.hpp"
#include "tuner/util/result.hpp"

namespace pgtune::worker {

/// One role's operations beyond "hello".
class Service {
 public:
  virtual ~Service() = default;
  [[nodiscard]] virtual protocol::Hello hello() const = 0;
  /// The reply's body.
  [[nodiscard]] virtual Result<nlohmann::json> handle(const protocol::Request& request) = 0;
  /// Whether this process can no longer work (a sticky CUDA error): it ends after the reply with that flag.
  [[nodiscard]] virtual bool context_lost() const = 0;
};

/// Of a role that has a GPU.
[[nodiscard]] protocol::Hello hello_of(std::string role, const DeviceInfo& device);

/// What a request's answer is in the reply.
template <typename T>
[[nodiscard]] Result<nlohmann::json> as_body(Result<T> result) {
  if (!result) return tl::unexpected(std::move(result.error()));
  return nlohmann::json(*result);
}

/// What `answer` gives for the request's body, which is a Body. Errors: a malformed one.
template <typename Body, typename Answer>
[[nodiscard]] Result<nlohmann::json> answer_to(const protocol::Request& request, const Answer& answer) {
  const Result<Body> body = protocol::decode_body<Body>(request.body, fmt::format("'{}' request", request.op));
  if (!body) return tl::unexpected(body.error());
  return as_body(answer(*body));
}

/// "this role has no operation ..."
[[nodiscard]] tl::unexpected<Error> unknown_operation(const protocol::Request& request);

/// Answers requests in order until the input ends or the context is lost. The first must be "hello". Errors: a line
/// that is no request or too long, a channel that fails; what is wrong inside a request is an error reply.
[[nodiscard]] Result<void> serve(LineChannel& channel, Service& service);

/// For a role that could not start: answers the first request with the cause, so that the parent learns it through the
/// protocol, and returns it.
[[nodiscard]] Error refuse(LineChannel& channel, Error cause);

/// Lets references be kept as cubins in the options' folder, where there is one: without, every process compiles them,
/// which takes a third of a second.
void keep_references(const WorkerOptions& options);

/// Serves a role that has a GPU and opens it by its name alone, with Runner::open().
template <typename RoleService, typename Runner>
[[nodiscard]] Result<void> serve_gpu(const WorkerOptions& options, LineChannel& channel) {
  keep_references(options);
  Result<std::unique_ptr<Runner>> runner = Runner::open(options.gpu);
  if (!runner) return tl::unexpected(refuse(channel, std::move(runner.error())));
  RoleService service(std::move(*runner));
  auto served = serve(channel, service);
  // Releasing what a lost context holds fails at best, and at worst waits for a kernel that never ends.
  if (service.context_lost()) ::_exit(served ? 0 : EXIT_FAILURE);
  return served;
}

}  // namespace pgtune::worker
