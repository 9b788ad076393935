// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/null_test.hpp"

#include <optional>

#include "tuner/gpu/measure/check/null_verdict.hpp"
#include "tuner/gpu/measure/check/result_element.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::size_t kCopy = 0;

/// An output, if there is one, that is not as the reference has it.
struct Wrong {
  std::optional<std::size_t> output;
  std::int64_t shift = 0;
  bool zero = false;
};

/// Puts results into copy 0 and compares them there.
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

  /// The guards of copy 0 see nothing of it, and its data are made anew.
  Result<std::uint64_t> wrong_without_part_of(std::size_t input) override {
    auto done = buffers_.kernels()
                    .clear_pieces(buffers_.place(kCopy).buffers.at(input).address,
                                  operation_.operation().buffers[input], stream_)
                    .and_then([&] { return checker_.refer_to(kCopy); })
                    .and_then([&] { return store(); });
    if (done) done = buffers_.fill_inputs(kCopy, stream_);
    if (done) done = checker_.refer_to(kCopy);
    return judged(done);
  }

 private:
  [[nodiscard]] CudaResult<> store(const Wrong& wrong = {}) {
    if (auto ok = buffers_.poison(kCopy, stream_); !ok) return ok;
    for (const auto& [buffer, first] : operation_.outputs()) {
      const bool as_it_is = wrong.output != buffer;
      auto ok = buffers_.kernels().store_result(buffers_.place(kCopy).buffers.at(buffer).address,
                                                operation_.operation().buffers[buffer], checker_.reference().values,
                                                first, as_it_is ? 0 : wrong.shift, !as_it_is && wrong.zero, stream_);
      if (!ok) return ok;
    }
    return {};
  }

  /// What the check says of the outputs, if they were `stored`.
  [[nodiscard]] Result<std::uint64_t> judged(const CudaResult<>& stored) {
    if (!stored) return tl::unexpected(to_error(stored.error()));
    Stored result;
    const auto found = checker_.look(result, kCopy, kPoison);
    if (!found) return tl::unexpected(to_error(found.error()));
    return found->comparison.wrong;
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
  ResultsOnGpu results(buffers, checker, stream);
  return judge_null_results(buffers.operation().operation(), results);
}

}  // namespace pgtune::gpu
