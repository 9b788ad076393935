// SPDX-License-Identifier: MIT
// A pipeline's D against float64, on rows spread over all of it where it is too large for a whole reference.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/helper_kernels.hpp"
#include "tuner/gpu/pipeline/host_operands.hpp"
#include "tuner/model/records.hpp"
#include "tuner/pipeline/chunk_plan.hpp"

namespace pgtune::gpu {

/// Rows of D that are compared: all of them where `most_rows` allows, else blocks of equal height at even distances,
/// the first and last rows among them, so that each chunk of an allowed size has some. Pure.
[[nodiscard]] std::vector<pipeline::Chunk> checked_rows(std::int64_t rows, std::int64_t most_rows);

/// How many rows are affordable: 2^26 elements of D, and products that the reference computes in about a second. At
/// least one a chunk.
[[nodiscard]] std::int64_t affordable_rows(const Problem& problem);

struct CheckedResult {
  CheckReport report;
  std::string fault;  ///< empty: right
};

class ResultCheck {
 public:
  /// Computes the reference from the operands: in device memory where `resident` has an address, else from `host`.
  /// `helpers` must outlive the result.
  [[nodiscard]] static CudaResult<std::unique_ptr<ResultCheck>> create(const pipeline::StreamedProblem& streamed,
                                                                       const HostOperands& host,
                                                                       const std::array<std::uint64_t, 3>& resident,
                                                                       const HelperKernels& helpers,
                                                                       cudaStream_t stream);

  /// Compares D, in device memory at `resident_d` where that is not 0, else in `host`. Waits.
  [[nodiscard]] CudaResult<CheckedResult> look(const HostOperands& host, std::uint64_t resident_d) const;
  [[nodiscard]] std::int64_t rows() const { return rows_; }

 private:
  ResultCheck(const pipeline::StreamedProblem& streamed, const HelperKernels& helpers, cudaStream_t stream)
      : streamed_(streamed), helpers_(&helpers), stream_(stream) {}
  [[nodiscard]] CudaResult<> refer(const HostOperands& host, const std::array<std::uint64_t, 3>& resident);
  /// The problem of so many rows, packed.
  [[nodiscard]] Problem part(std::int64_t rows) const;
  [[nodiscard]] std::int64_t row_in_d(std::int64_t checked_row) const;

  pipeline::StreamedProblem streamed_;
  const HelperKernels* helpers_;
  cudaStream_t stream_;
  std::vector<pipeline::Chunk> blocks_;
  std::int64_t rows_ = 0;
  DeviceBuffer reference_, scale_, results_, d_;
};

}  // namespace pgtune::gpu
