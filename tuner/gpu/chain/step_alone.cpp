// SPDX-License-Identifier: MIT
#include "tuner/gpu/chain/step_alone.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/gpu/chain/chain_memory.hpp"

namespace pgtune::gpu {
namespace {

/// Where results of the chain are judged.
constexpr std::size_t kCopy = 0;

/// A result that is there already.
class Produced : public Launchable {
 public:
  CudaResult<> launch(std::size_t /*copy*/, cudaStream_t /*stream*/) override { return {}; }
};

CudaResult<> copy_span(const DeviceSpan& from, const DeviceSpan& to, cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(std::min(from.bytes, to.bytes));
  return check(cudaMemcpyAsync(device_pointer(to.address), device_pointer(from.address), bytes,
                               cudaMemcpyDeviceToDevice, stream),
               "copying operands");
}

}  // namespace

Result<std::unique_ptr<StepAlone>> StepAlone::create(const MeasureContext& context, const Problem& problem,
                                                     const Conditions& conditions) {
  std::unique_ptr<StepAlone> step(new StepAlone(context, problem, conditions));
  auto checked = CheckedProblem::create(context, problem, conditions, CheckedProblem::memory_of(problem), false);
  if (!checked) return tl::unexpected(checked.error());
  step->checked_ = std::move(*checked);
  return step;
}

CudaResult<> StepAlone::restore() {
  checked_->buffers().set_seed(seed_);
  return checked_->buffers().fill(kCopy, context_->stream).and_then([&] {
    return checked_->checker().refer_to(kCopy);
  });
}

CudaResult<CheckVerdict> StepAlone::check(const protocol::BuiltVariant& built) {
  if (auto ok = restore(); !ok) return tl::unexpected(ok.error());
  const auto variant = checked_->load(built.build, built.plan);
  if (!variant) return tl::unexpected(variant.error());
  return checked_->checker().check(**variant);
}

CudaResult<> StepAlone::fill(const OperandSet& operands, const std::vector<bool>& wanted, std::uint64_t seed) {
  OperandBuffers& buffers = checked_->buffers();
  buffers.set_seed(seed);
  if (auto ok = buffers.fill(kCopy, context_->stream); !ok) return ok;
  const std::vector<DeviceSpan> own = spans_of(buffers.place(kCopy), operands_), to = spans_of(operands, operands_);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!wanted[i] || operands_[i].buffer.pointers) continue;
    if (auto ok = copy_span(own[i], to[i], context_->stream); !ok) return ok;
  }
  // No two steps share an array, so that its pointers always lead to the operands of this one.
  return buffers.operation().fill_pointers(operands, context_->stream);
}

CudaResult<> StepAlone::fetch(const OperandSet& from, Part part) {
  const std::vector<DeviceSpan> own = spans_of(checked_->buffers().place(kCopy), operands_),
                                theirs = spans_of(from, operands_);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const OperationBuffer& buffer = operands_[i].buffer;
    // Its own pointers lead to its own operands.
    if (buffer.pointers || !(part == Part::kInputs ? buffer.is_input() : buffer.is_output())) continue;
    if (auto ok = copy_span(theirs[i], own[i], context_->stream); !ok) return ok;
  }
  return {};
}

CudaResult<StepAlone::Judgement> StepAlone::judge(const OperandSet& inputs, const OperandSet& results) {
  Checker& checker = checked_->checker();
  const auto prepared = checked_->buffers()
                            .poison(kCopy, context_->stream)
                            .and_then([&] { return fetch(inputs, Part::kInputs); })
                            .and_then([&] { return checker.refer_to(kCopy, InOutData::kPresent); })
                            .and_then([&] { return fetch(results, Part::kResults); });
  if (!prepared) return tl::unexpected(prepared.error());
  Produced produced;
  const auto found = checker.look(produced, kCopy, kPoison);
  if (!found) return tl::unexpected(found.error());
  Judgement out{check_report(*found), fault_text(*found, checker.operation())};
  if (!out.fault.empty()) return out;
  if (!std::isfinite(found->comparison.squared_reference)) {
    out.fault =
        "the right values are not finite for what the chain hands it, so nothing is checked; give the chain "
        "other data or factors";
    return out;
  }
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    if (!operands_[i].buffer.is_output()) continue;
    const DeviceSpan span = checked_->buffers().place(kCopy)[operands_[i].operand];
    auto zeroed = pgtune::gpu::check(
        cudaMemsetAsync(device_pointer(span.address), 0, static_cast<std::size_t>(span.bytes), context_->stream),
        "zeroing a result");
    if (!zeroed) return tl::unexpected(zeroed.error());
  }
  const auto zeros = checker.look(produced, kCopy, kPoison);
  if (!zeros) return tl::unexpected(zeros.error());
  if (zeros->comparison.wrong == 0)
    out.fault = "zeros would pass for what the chain hands it, so nothing is checked; give the chain other data";
  return out;
}

CudaResult<TimedSeries*> StepAlone::series(const protocol::BuiltVariant& built) {
  if (series_ == nullptr) {
    if (auto ok = restore(); !ok) return tl::unexpected(ok.error());
    auto variant = checked_->load(built.build, built.plan);
    if (!variant) return tl::unexpected(variant.error());
    variant_ = std::move(*variant);
    auto timed = TimedSeries::make(checked_->make_series(*variant_), context_->timer);
    if (!timed) return tl::unexpected(timed.error());
    series_ = std::make_unique<TimedSeries>(std::move(*timed));
  }
  return series_.get();
}

}  // namespace pgtune::gpu
