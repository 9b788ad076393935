// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/null_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace pgtune::gpu {
namespace {

constexpr std::size_t kCopy = 0;

class NullTest {
 public:
  NullTest(const OperandBuffers& buffers, Checker& checker, cudaStream_t stream)
      : buffers_(buffers), checker_(checker), operation_(buffers.operation()), stream_(stream) {}

  Result<void> run() {
    if (auto ok = require_written(); !ok) return ok;
    const auto right = wrong_elements(0, false);
    if (!right) return tl::unexpected(to_error(right.error()));
    if (*right > 0)
      return refused(fmt::format(
          "the reference itself, rounded to the outputs' types, does not pass: the error rule is too tight, "
          "or the reference writes what its output cannot hold{}",
          operation_.operation().has_residuals() ? ", or leaves residuals unwritten" : ""));
    const auto zeros = wrong_elements(0, true);
    if (!zeros) return tl::unexpected(to_error(zeros.error()));
    if (*zeros == 0)
      return refused(
          "zeros pass: the error rule is too loose for these data, nothing is judged, or the right result "
          "is zero everywhere");
    const auto shifted = wrong_elements(1, false);
    if (!shifted) return tl::unexpected(to_error(shifted.error()));
    if (*shifted == 0 && most_elements() > 1)
      return refused("a result that is shifted by one element passes: the error rule is too loose for these data");
    return refuse_partial_results();
  }

 private:
  [[nodiscard]] tl::unexpected<Error> refused(const std::string& why) const {
    return fail(ErrorKind::kUsage,
                fmt::format("the operation '{}' is rejected by its null test: {}", operation_.operation().name, why));
  }

  [[nodiscard]] std::int64_t most_elements() const {
    std::int64_t most = 0;
    for (const auto& output : operation_.outputs())
      most = std::max(most, operation_.operation().buffers[output.buffer].elements());
    return most;
  }

  [[nodiscard]] Result<void> require_written() {
    std::uint64_t count = 0;
    auto memory = DeviceBuffer::allocate(sizeof(count));
    if (!memory) return tl::unexpected(to_error(memory.error()));
    std::int64_t elements = 0;
    for (const auto& output : operation_.outputs())
      elements += operation_.operation().buffers[output.buffer].elements();
    const auto read =
        check(cudaMemsetAsync(memory->data(), 0, sizeof(count), stream_), "testing the reference")
            .and_then([&] {
              return buffers_.kernels().count_unwritten(checker_.reference().values, elements, memory->address(),
                                                        stream_);
            })
            .and_then([&] {
              return check(cudaMemcpyAsync(&count, memory->data(), sizeof(count), cudaMemcpyDeviceToHost, stream_),
                           "testing the reference");
            })
            .and_then([&] { return check(cudaStreamSynchronize(stream_), "running the reference"); });
    if (!read) return tl::unexpected(to_error(read.error()));
    if (count > 0)
      return fail(ErrorKind::kUsage,
                  fmt::format("the reference of the operation '{}' leaves {} of {} elements unwritten",
                              operation_.operation().name, count, elements));
    return {};
  }

  /// Puts the reference into the outputs and judges it.
  [[nodiscard]] CudaResult<std::uint64_t> wrong_elements(std::int64_t shift, bool zero) {
    if (auto ok = store(shift, zero); !ok) return tl::unexpected(ok.error());
    return judge();
  }

  [[nodiscard]] CudaResult<> store(std::int64_t shift, bool zero) {
    if (auto ok = buffers_.poison(kCopy, stream_); !ok) return ok;
    for (const auto& [buffer, first] : operation_.outputs()) {
      auto ok = buffers_.kernels().store_result(buffers_.place(kCopy).buffers.at(buffer).address,
                                                operation_.operation().buffers[buffer], checker_.reference().values,
                                                first, shift, zero, stream_);
      if (!ok) return ok;
    }
    return {};
  }

  [[nodiscard]] CudaResult<std::uint64_t> judge() {
    Stored stored;
    return checker_.look(stored, kCopy, kPoison).map([](const CheckFindings& found) { return found.comparison.wrong; });
  }

  [[nodiscard]] Result<void> refuse_partial_results() {
    for (std::size_t i = 0; i < operation_.operation().buffers.size(); ++i) {
      const OperationBuffer& buffer = operation_.operation().buffers[i];
      if (!buffer.is_left_alone() || buffer.pointers || traits(buffer.type).is_integer()) continue;
      const auto wrong = without_part_of(i);
      if (!wrong) return tl::unexpected(to_error(wrong.error()));
      if (*wrong == 0)
        return refused(
            fmt::format("the result of {0} with a sixteenth of it zero passes: the error rule is too loose "
                        "for these data, or the result does not depend on {0}",
                        buffer.name));
    }
    return {};
  }

  /// How many elements differ in the result of inputs of which `index` lacks a part. The guards of copy 0 see nothing
  /// of it, and its data are made anew.
  [[nodiscard]] CudaResult<std::uint64_t> without_part_of(std::size_t index) {
    auto done = buffers_.kernels()
                    .clear_pieces(buffers_.place(kCopy).buffers.at(index).address,
                                  operation_.operation().buffers[index], stream_)
                    .and_then([&] { return checker_.refer_to(kCopy); })
                    .and_then([&] { return store(0, false); });
    if (done) done = buffers_.fill_inputs(kCopy, stream_);
    if (done) done = checker_.refer_to(kCopy);
    if (!done) return tl::unexpected(done.error());
    return judge();
  }

  /// A result that is there already.
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

Result<void> null_test(const OperandBuffers& buffers, Checker& checker, cudaStream_t stream) {
  return NullTest(buffers, checker, stream).run();
}

}  // namespace pgtune::gpu
