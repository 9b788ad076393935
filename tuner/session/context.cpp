// SPDX-License-Identifier: MIT
#include "tuner/session/context.hpp"

#include "tuner/space/plan.hpp"

namespace pgtune::session {

std::optional<double> SessionContext::time_left_s() const {
  if (!options.budget.seconds) return std::nullopt;
  return *options.budget.seconds - elapsed_s();
}

protocol::RequestId next_request_id() {
  static std::atomic<protocol::RequestId> last{0};
  return ++last;
}

Result<protocol::BuildRequest> make_build_request(const SessionContext& context, const Variant& variant) {
  TRY_ASSIGN(auto defines,
             space::make_defines(context.templates.of(variant), variant, context.problem, context.device.info()));
  return protocol::BuildRequest{next_request_id(), variant, context.templates.of(variant).source, std::move(defines),
                                context.device.info().architecture};
}

Result<LaunchPlan> make_plan(const SessionContext& context, const Variant& variant) {
  return space::make_launch_plan(context.templates.of(variant), variant, context.problem, context.device.info());
}

}  // namespace pgtune::session
