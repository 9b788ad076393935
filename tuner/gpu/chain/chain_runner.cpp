// SPDX-License-Identifier: MIT
#include "tuner/gpu/chain/chain_runner.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tuner/gpu/chain/current_chain.hpp"
#include "tuner/gpu/measure/measuring_gpu.hpp"
#include "tuner/gpu/measure/round.hpp"

namespace pgtune::gpu {

struct ChainRunner::State : MeasuringGpu {
  std::unique_ptr<MeasureContext> context;
  std::unique_ptr<CurrentChain> current;  ///< after what it uses: released first

  [[nodiscard]] Result<void> require_chain() const {
    if (current != nullptr && !context_lost) return {};
    return fail(ErrorKind::kInternal, "the worker has no chain prepared");
  }
  /// Whether it asks for what there is, each contender once.
  [[nodiscard]] bool is_well_formed(const protocol::ChainRound& request) const {
    std::vector<int> places(request.contenders.size());
    std::iota(places.begin(), places.end(), 0);
    const auto steps = std::ssize(current->chain().steps);
    const auto is_there = [&](const protocol::ChainContender& contender) {
      return !contender.step || (*contender.step >= 0 && *contender.step < steps);
    };
    return std::is_permutation(request.order.begin(), request.order.end(), places.begin(), places.end()) &&
           std::all_of(request.contenders.begin(), request.contenders.end(), is_there);
  }
};

ChainRunner::ChainRunner(std::unique_ptr<State> state) : state_(std::move(state)) {}
ChainRunner::~ChainRunner() = default;

Result<std::unique_ptr<ChainRunner>> ChainRunner::open(const std::string& gpu) {
  auto state = std::make_unique<State>();
  if (auto opened = state->open(gpu); !opened) return tl::unexpected(opened.error());
  state->context = std::make_unique<MeasureContext>(state->context_of_problems());
  return std::unique_ptr<ChainRunner>(new ChainRunner(std::move(state)));
}

const DeviceInfo& ChainRunner::info() const { return state_->info; }
bool ChainRunner::context_lost() const { return state_->context_lost; }

Result<protocol::ChainPrepared> ChainRunner::prepare(const protocol::ChainPrepare& request) {
  state_->current.reset();
  auto current = CurrentChain::create(*state_->context, request);
  if (!current) {
    state_->look_after_context();
    return fail(current.error(), "preparing " + request.chain.title());
  }
  state_->current = std::move(*current);
  return state_->current->prepared();
}

Result<protocol::ChainCheck> ChainRunner::check(const protocol::ChainCheckAsked& request) {
  if (auto ready = state_->require_chain(); !ready) return tl::unexpected(ready.error());
  auto checked = state_->current->check(request.overlapping);
  if (!checked) return protocol::ChainCheck{.outcome = state_->outcome_of(checked.error())};
  return std::move(*checked);
}

Result<protocol::RoundReport> ChainRunner::round(const protocol::ChainRound& request) {
  if (auto ready = state_->require_chain(); !ready) return tl::unexpected(ready.error());
  if (!state_->is_well_formed(request))
    return fail(ErrorKind::kInternal, "a round's order must be a permutation of its contenders, which must be there");
  const std::size_t count = request.contenders.size();
  protocol::RoundReport report{std::vector<std::optional<Sample>>(count), std::vector<Outcome>(count)};
  std::vector<RoundContender> contenders(count);
  for (std::size_t i = 0; i < count && !state_->context_lost; ++i) {
    const auto timed = state_->current->series(request.contenders[i]);
    if (timed) {
      contenders[i] = {&(*timed)->series, (*timed)->per_launch_s};
    } else {
      report.outcomes[i] = state_->outcome_of(timed.error());
    }
  }
  const RoundAsked asked{request.order,      request.stage,    request.round,
                         Regime::kSustained, request.sample_s, request.settle_s};
  if (!state_->context_lost) state_->take(time_round(contenders, asked, *state_->timer), report);
  return report;
}

}  // namespace pgtune::gpu
