// SPDX-License-Identifier: MIT
#include "tool/worker/compile_service.hpp"

#include <nlohmann/json.hpp>

#include "tuner/protocol/messages.hpp"

namespace pgtune::worker {

protocol::Hello CompileService::hello() const {
  return {.protocol = protocol::kProtocolVersion,
          .role = "compile",
          .nvrtc_version = builder_.toolkit().nvrtc_version,
          .device = std::nullopt};
}

Result<nlohmann::json> CompileService::handle(const protocol::Request& request) {
  if (request.op != "build") return unknown_operation(request);
  if (limit_) limit_->forget_peak();
  Result<protocol::BuildDone> done = builder_.build(request.body.get<protocol::BuildRequest>());
  if (!done) return tl::unexpected(std::move(done.error()));
  if (done->outcome.kind == OutcomeKind::kCompileFailed && limit_ && limit_->nearly_reached())
    done->outcome.reason = protocol::out_of_compile_memory(limit_->bytes(), done->outcome.reason);
  return nlohmann::json(*done);
}

}  // namespace pgtune::worker
