// SPDX-License-Identifier: MIT
#include "tuner/search/in_order.hpp"

namespace pgtune::search {

bool InOrder::hand_on() {
  const auto found = reported_.find(open_.front());
  if (found == reported_.end()) return false;
  strategy_->report(found->first, found->second);
  reported_.erase(found);
  open_.pop_front();
  waits_ = false;
  return true;
}

std::optional<std::size_t> InOrder::next() {
  while (true) {
    if (open_.size() == most_open_ || (waits_ && !open_.empty())) {
      if (!hand_on()) return std::nullopt;
      continue;
    }
    if (const auto index = strategy_->next()) {
      open_.push_back(*index);
      return index;
    }
    if (open_.empty()) return std::nullopt;
    waits_ = true;
  }
}

}  // namespace pgtune::search
