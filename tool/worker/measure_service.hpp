// SPDX-License-Identifier: MIT
// The measure role: "prepare", "trial", "round", "energy" and "ceilings" on one GPU.
#pragma once

#include <memory>
#include <utility>

#include "tool/worker/service.hpp"
#include "tuner/gpu/measure/measurer.hpp"

namespace pgtune::worker {

class MeasureService final : public Service {
 public:
  explicit MeasureService(std::unique_ptr<gpu::Measurer> measurer) : measurer_(std::move(measurer)) {}

  [[nodiscard]] protocol::Hello hello() const override { return hello_of("measure", measurer_->info()); }
  [[nodiscard]] Result<nlohmann::json> handle(const protocol::Request& request) override;
  [[nodiscard]] bool context_lost() const override { return measurer_->context_lost(); }

 private:
  std::unique_ptr<gpu::Measurer> measurer_;
};

}  // namespace pgtune::worker
