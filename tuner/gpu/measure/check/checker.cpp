// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/fault_text.hpp"
#include "tuner/gpu/measure/check/null_verdict.hpp"

namespace pgtune::gpu {
namespace {

template <typename T>
CudaResult<> fetch(T* to, std::uint64_t address, std::size_t count) {
  return check(cudaMemcpy(to, device_pointer(address), count * sizeof(T), cudaMemcpyDeviceToHost), "fetching results");
}

/// An output, if any, that differs from the reference.
struct Wrong {
  std::optional<std::size_t> output;
  std::int64_t shift = 0;
  bool zero = false;
};

/// Puts results into the reference's copy and compares them there.
class ResultsOnGpu : public NullResults {
 public:
  ResultsOnGpu(const OperandBuffers& buffers, Checker& checker, cudaStream_t stream)
      : buffers_(buffers), checker_(checker), operation_(buffers.operation()), stream_(stream) {}

  Result<std::uint64_t> unwritten() override {
    std::uint64_t count = 0;
    auto memory = DeviceBuffer::allocate(sizeof(count));
    if (!memory) return tl::unexpected(to_error(memory.error()));
    const auto read =
        check(cudaMemsetAsync(memory->data(), 0, sizeof(count), stream_), "testing the reference")
            .and_then([&] {
              return buffers_.kernels().count_unwritten(
                  checker_.reference().values, result_elements(operation_.operation()), memory->address(), stream_);
            })
            .and_then([&] {
              return check(cudaMemcpyAsync(&count, memory->data(), sizeof(count), cudaMemcpyDeviceToHost, stream_),
                           "testing the reference");
            })
            .and_then([&] { return check(cudaStreamSynchronize(stream_), "testing the reference"); });
    if (!read) return tl::unexpected(to_error(read.error()));
    return count;
  }

  Result<std::uint64_t> wrong_of_reference() override { return judged(store()); }

  Result<std::uint64_t> wrong_where_shifted(std::size_t output) override { return judged(store({output, 1, false})); }

  Result<std::uint64_t> wrong_where_zero(std::size_t output) override { return judged(store({output, 0, true})); }

  /// This does not touch the guards of copy 0, and its data is filled again.
  Result<std::uint64_t> wrong_without_part_of(std::size_t input) override {
    auto done = buffers_.kernels()
                    .clear_pieces(buffers_.place(Checker::kReferenceCopy).buffers.at(input).address,
                                  operation_.operation().buffers[input], stream_)
                    .and_then([&] { return checker_.refer_to(Checker::kReferenceCopy); })
                    .and_then([&] { return store(); });
    if (done) done = buffers_.fill_inputs(Checker::kReferenceCopy, stream_);
    if (done) done = checker_.refer_to(Checker::kReferenceCopy);
    return judged(done);
  }

 private:
  [[nodiscard]] CudaResult<> store(const Wrong& wrong = {}) {
    if (auto ok = buffers_.poison(Checker::kReferenceCopy, stream_); !ok) return ok;
    for (const auto& [buffer, first] : operation_.outputs()) {
      const bool as_it_is = wrong.output != buffer;
      auto ok = buffers_.kernels().store_result(buffers_.place(Checker::kReferenceCopy).buffers.at(buffer).address,
                                                operation_.operation().buffers[buffer], checker_.reference().values,
                                                first, as_it_is ? 0 : wrong.shift, !as_it_is && wrong.zero, stream_);
      if (!ok) return ok;
    }
    return {};
  }

  /// The check's result for the outputs, if they were `stored`.
  [[nodiscard]] Result<std::uint64_t> judged(const CudaResult<>& stored) {
    if (!stored) return tl::unexpected(to_error(stored.error()));
    Stored result;
    const auto found = checker_.look(result, Checker::kReferenceCopy, kPoison);
    if (!found) return tl::unexpected(to_error(found.error()));
    return found->comparison.wrong;
  }

  /// A result that exists already.
  class Stored : public Launchable {
   public:
    CudaResult<> launch(std::size_t /*copy*/, cudaStream_t /*stream*/) override { return {}; }
  };

  const OperandBuffers& buffers_;
  Checker& checker_;
  const OperationKernels& operation_;
  cudaStream_t stream_;
};

}  // namespace

std::int64_t Checker::memory_bytes(const OperationProblem& operation) {
  const std::int64_t elements = result_elements(operation) * (operation.has_residuals() ? 2 : 1);
  return elements * static_cast<std::int64_t>(sizeof(double) + sizeof(float)) +
         static_cast<std::int64_t>(sizeof(Results));
}

CudaResult<std::unique_ptr<Checker>> Checker::create(const HelperKernels& kernels, const OperandBuffers& buffers,
                                                     const OperationKernels& operation, cudaStream_t stream) {
  std::unique_ptr<Checker> checker(new Checker(kernels, buffers, operation, stream));
  const std::int64_t elements = result_elements(operation.operation());
  TRY_ASSIGN(auto reference, DeviceBuffer::allocate(elements * static_cast<std::int64_t>(sizeof(double))));
  TRY_ASSIGN(auto scale, DeviceBuffer::allocate(elements * static_cast<std::int64_t>(sizeof(float))));
  const std::int64_t residuals = operation.operation().has_residuals() ? elements : 0;
  TRY_ASSIGN(auto residual, DeviceBuffer::allocate(residuals * static_cast<std::int64_t>(sizeof(double))));
  TRY_ASSIGN(auto residual_scale, DeviceBuffer::allocate(residuals * static_cast<std::int64_t>(sizeof(float))));
  TRY_ASSIGN(auto results, DeviceBuffer::allocate(sizeof(Results)));
  TRY_ASSIGN(auto start, create_event());
  TRY_ASSIGN(auto stop, create_event());
  checker->start_ = std::move(start);
  checker->stop_ = std::move(stop);
  checker->reference_ = std::move(reference);
  checker->scale_ = std::move(scale);
  checker->residual_ = std::move(residual);
  checker->residual_scale_ = std::move(residual_scale);
  checker->results_ = std::move(results);
  TRY(checker->refer_to(kReferenceCopy));
  return checker;
}

CudaResult<> Checker::enqueue_reference(std::size_t copy) {
  return operation_->refer(buffers_->place(copy), buffers_->data().distribution, buffers_->seed_of(copy),
                           InOutData::kFilled, reference(), stream_);
}

CudaResult<> Checker::enqueue_residuals(std::size_t copy) {
  return operation_->judge(buffers_->place(copy), buffers_->data().distribution, buffers_->seed_of(copy),
                           InOutData::kFilled, {residual_.address(), residual_scale_.address()}, stream_);
}

ReferenceMemory Checker::judged_by(const OperationBuffer& output) const {
  if (!output.error.of_residual) return reference();
  return {residual_.address(), residual_scale_.address()};
}

CudaResult<> Checker::enqueue_comparison(std::size_t copy, std::uint32_t poison) {
  const OperandSet& operands = buffers_->place(copy);
  const std::uint64_t out = results_field(offsetof(Results, comparison));
  for (const auto& [buffer, first] : operation_->outputs()) {
    const OperationBuffer& output = operation().buffers[buffer];
    const ReferenceMemory by = judged_by(output);
    auto ok = kernels_->compare_tensor(operands.buffers.at(buffer).address, output, by.values, by.scales, first, poison,
                                       out, stream_);
    if (!ok) return ok;
  }
  return {};
}

CudaResult<> Checker::enqueue_result_sum(std::size_t copy, std::uint64_t sum) {
  const OperandSet& operands = buffers_->place(copy);
  for (const auto& [buffer, first] : operation_->outputs()) {
    const OperationBuffer& output = operation().buffers[buffer];
    auto ok = kernels_->sum_tensor(operands.buffers.at(buffer).address, output, judged_by(output).scales, first, sum,
                                   stream_);
    if (!ok) return ok;
  }
  return {};
}

CudaResult<> Checker::refer_to(std::size_t copy) {
  if (auto ok = enqueue_reference(copy); !ok) return ok;
  // Checked separately from the checksum kernels, so that an illegal access is reported as the reference's.
  if (auto ok = pgtune::gpu::check(cudaStreamSynchronize(stream_),
                                   fmt::format("running the reference of the operation '{}'", operation().name));
      !ok)
    return ok;
  if (auto ok = clear_results(); !ok) return ok;
  if (auto ok = enqueue_sums(copy, kSumInputs, kSumCount); !ok) return ok;
  auto results = fetch_results();
  if (!results) return tl::unexpected(results.error());
  expected_ = results->sums;
  return {};
}

CudaResult<> Checker::enqueue_sums(std::size_t copy, int first, int last) {
  const auto enqueue = [&](int index, const WatchedInput& input) -> CudaResult<> {
    if (index < first || index >= last) return {};
    const std::uint64_t sum =
        results_field(offsetof(Results, sums) + static_cast<std::size_t>(index) * sizeof(std::uint64_t));
    // Addresses differ between places, but point to the same elements.
    return input.into ? kernels_->checksum_pointers(input.span, *input.into, sum, stream_)
                      : kernels_->checksum(input.span, sum, stream_);
  };
  int index = kSumInputs;
  for (const WatchedInput& input : buffers_->watched_inputs(copy)) {
    if (auto ok = enqueue(index++, input); !ok) return ok;
  }
  return enqueue(kSumReference, {"the reference", {reference_.address(), reference_.bytes()}}).and_then([&] {
    return enqueue(kSumScale, {"its scale", {scale_.address(), scale_.bytes()}});
  });
}

CudaResult<> Checker::clear_results() {
  // On the stream: a copy from pageable memory may return before it has arrived, and no other stream waits for it.
  static const Results empty;
  return pgtune::gpu::check(cudaMemcpyAsync(results_.data(), &empty, sizeof(empty), cudaMemcpyHostToDevice, stream_),
                            "clearing results");
}

CudaResult<Checker::Results> Checker::fetch_results() {
  TRY(pgtune::gpu::check(cudaStreamSynchronize(stream_), "examining the result"));
  Results results;
  return fetch(&results, results_.address(), 1).map([&] { return results; });
}

CudaResult<CheckVerdict> Checker::check(Launchable& launchable, double limit_s) {
  CheckVerdict verdict;
  for (const std::size_t copy : launchable.checked_copies()) {
    auto found = check_on(launchable, copy, limit_s);
    if (!found) return tl::unexpected(found.error());
    verdict.report.max_error = std::max(verdict.report.max_error, found->report.max_error);
    verdict.report.norm_error = std::max(verdict.report.norm_error, found->report.norm_error);
    verdict.launch_s = verdict.launch_s > 0 ? std::min(verdict.launch_s, found->launch_s) : found->launch_s;
    verdict.fault = std::move(found->fault);
    if (!verdict.fault.empty()) return verdict;
  }
  TRY(launchable.reset(kReferenceCopy, stream_));
  return verdict;
}

CudaResult<CheckVerdict> Checker::check_on(Launchable& launchable, std::size_t copy, double limit_s) {
  auto findings = examine(launchable, copy, limit_s);
  if (!findings) return tl::unexpected(findings.error());
  std::string fault = fault_text(*findings, operation());
  if (!fault.empty()) {
    const auto reference_was_damaged = restore();
    if (!reference_was_damaged) return tl::unexpected(reference_was_damaged.error());
    if (*reference_was_damaged) {
      // The verdict rested on a damaged reference, possibly by an earlier launchable's stray write: judge again.
      findings = examine(launchable, copy, limit_s);
      if (!findings) return tl::unexpected(findings.error());
      fault = fault_text(*findings, operation());
      TRY(restore());
    }
  }
  return CheckVerdict{check_report(*findings), fault, launch_s_};
}

CudaResult<double> Checker::launch(Launchable& launchable, std::size_t copy, double limit_s) {
  TRY(launchable.reset(copy, stream_));
  TRY(buffers_->poison(copy, stream_));
  TRY(pgtune::gpu::check(cudaEventRecord(start_.get(), stream_), "timing the check"));
  TRY(launchable.launch(copy, stream_));
  TRY(pgtune::gpu::check(cudaEventRecord(stop_.get(), stream_), "timing the check"));
  // Apart from the kernels that examine: an illegal access is then reported as the launchable's.
  TRY(wait_for(stop_.get(), limit_s, "running the kernel"));
  return seconds_between(start_.get(), stop_.get());
}

CudaResult<CheckFindings> Checker::examine(Launchable& launchable, std::size_t copy, double limit_s) {
  // The guarded places share their memory, so each begins with its data.
  if (copy >= buffers_->copies().size()) {
    TRY(buffers_->fill(copy, stream_));
  }
  TRY_ASSIGN(const auto launch_s, launch(launchable, copy, limit_s));
  launch_s_ = launch_s;
  return look(launchable, copy, kPoison);
}

CudaResult<CheckFindings> Checker::look(Launchable& launchable, std::size_t copy, std::uint32_t poison) {
  TRY(clear_results());
  TRY(launchable.deliver(copy, stream_));

  TRY(enqueue_residuals(copy));
  TRY(enqueue_comparison(copy, poison));
  const std::vector<Guard> guards = this->guards(launchable, copy);
  TRY(enqueue_guards(guards));
  TRY(enqueue_sums(copy, kSumInputs, kSumReference));
  TRY_ASSIGN(const auto results, fetch_results());

  CheckFindings findings;
  findings.comparison = results.comparison;
  findings.guards = changed_ones(guards, results);
  const std::vector<WatchedInput> inputs = buffers_->watched_inputs(copy);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (results.sums.at(i) != expected_.at(i)) findings.changed_operands.push_back(inputs[i].name);
  }
  if (findings.comparison.wrong > 0) {
    TRY(fetch_first_wrong(copy, poison, findings));
  }
  return findings;
}

std::vector<Guard> Checker::guards(const Launchable& launchable, std::size_t copy) const {
  std::vector<Guard> guards = buffers_->guards(copy);
  const std::array around_workspace{"before the workspace", "after the workspace"};
  std::size_t side = 0;
  for (const DeviceSpan& span : launchable.guards(copy)) guards.push_back({around_workspace.at(side++), false, span});
  return guards;
}

CudaResult<> Checker::enqueue_guards(const std::vector<Guard>& guards) {
  std::vector<DeviceSpan> spans;
  for (const Guard& guard : guards) spans.push_back(guard.span);
  return kernels_->count_changed_bytes(spans, kPoison, results_field(offsetof(Results, changed)), stream_);
}

std::vector<ChangedGuard> Checker::changed_ones(const std::vector<Guard>& guards, const Results& results) {
  std::vector<ChangedGuard> changed;
  for (std::size_t i = 0; i < guards.size(); ++i) {
    if (results.changed.at(i) > 0) changed.push_back({guards[i].place, guards[i].around_result, results.changed.at(i)});
  }
  return changed;
}

CudaResult<std::vector<ChangedGuard>> Checker::changed_guards(Launchable& launchable, std::size_t copy) {
  const std::vector<Guard> guards = this->guards(launchable, copy);
  return clear_results()
      .and_then([&] { return enqueue_guards(guards); })
      .and_then([&] { return fetch_results(); })
      .map([&](const Results& results) { return changed_ones(guards, results); });
}

CudaResult<> Checker::fetch_first_wrong(std::size_t copy, std::uint32_t poison, CheckFindings& findings) {
  const std::uint64_t index = findings.comparison.first_wrong;
  const ResultElement element = result_element(operation(), index);
  const ReferenceMemory by = judged_by(operation().buffers[buffer_of_operand(element.operand).value()]);
  const std::int64_t bytes = element_bytes(element.type);
  const std::uint64_t address = buffers_->place(copy)[element.operand].address + element.offset_bytes;
  std::uint32_t bits = 0;
  float scale = 0;
  return fetch(reinterpret_cast<std::byte*>(&bits), address, static_cast<std::size_t>(bytes))
      .and_then([&] { return fetch(&findings.first_expected, by.values + index * sizeof(double), 1); })
      .and_then([&] { return fetch(&scale, by.scales + index * sizeof(float), 1); })
      .map([&] {
        findings.first_unwritten = bits == poison_at(address, bytes, poison);
        findings.first_value = element_value(element.type, bits);
        const bool of_residual = element.bound.of_residual != 0;
        const double right = of_residual ? 0 : findings.first_expected;
        const double error = of_residual ? findings.first_expected : findings.first_value - right;
        findings.first_ratio = std::abs(error) / element.bound.allowed(right, scale);
      });
}

CudaResult<bool> Checker::restore() {
  for (std::size_t i = 0; i < buffers_->copies().size(); ++i) {
    TRY(buffers_->fill(i, stream_));
  }
  TRY(clear_results());
  TRY(enqueue_sums(kReferenceCopy, kSumReference, kSumCount));
  TRY_ASSIGN(const auto results, fetch_results());
  if (results.sums[kSumReference] == expected_[kSumReference] && results.sums[kSumScale] == expected_[kSumScale]) {
    return false;
  }
  TRY(refer_to(kReferenceCopy));
  return true;
}

Result<void> null_test(const OperandBuffers& buffers, Checker& checker, cudaStream_t stream) {
  ResultsOnGpu results(buffers, checker, stream);
  return judge_null_results(buffers.operation().operation(), results);
}

}  // namespace pgtune::gpu
