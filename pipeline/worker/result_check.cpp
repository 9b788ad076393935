// SPDX-License-Identifier: MIT
#include "pipeline/worker/result_check.hpp"

#include <algorithm>
#include <cmath>

#include "pipeline/plan/chunk_plan.hpp"
#include "tuner/gpu/measure/check/fault_text.hpp"
#include "tuner/gpu/measure/check/operand_layout.hpp"
#include "tuner/gpu/measure/check/tensors.hpp"

namespace pgtune::gpu {
namespace {

using pipeline::Matrix;

template <typename T>
std::uint64_t offset(std::int64_t elements) {
  return static_cast<std::uint64_t>(elements) * sizeof(T);
}

/// Rows to packed ones, in the order of `stream`: a copy in the default stream could overtake the kernels there.
CudaResult<> copy_rows(void* to, const void* from, std::int64_t width, std::int64_t from_pitch, std::int64_t rows,
                       cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(width), count = static_cast<std::size_t>(rows);
  return check(width == from_pitch ? cudaMemcpyAsync(to, from, bytes * count, cudaMemcpyDefault, stream)
                                   : cudaMemcpy2DAsync(to, bytes, from, static_cast<std::size_t>(from_pitch), bytes,
                                                       count, cudaMemcpyDefault, stream),
               "copying for the check");
}

template <typename T>
CudaResult<> fetch(T* to, const void* from, std::size_t bytes) {
  return check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "fetching results");
}

}  // namespace

CudaResult<std::unique_ptr<ResultCheck>> ResultCheck::create(const pipeline::StreamedProblem& streamed,
                                                             const HostOperands& host, const ResidentOperands& resident,
                                                             const HelperKernels& helpers,
                                                             const OperationKernels& block, cudaStream_t stream) {
  std::unique_ptr<ResultCheck> made(new ResultCheck(streamed, helpers, block, stream));
  made->blocks_ = pipeline::checked_rows(streamed.problem.m, pipeline::affordable_rows(streamed.problem));
  for (const pipeline::Chunk& rows : made->blocks_) made->rows_ += rows.extent;
  TRY(made->refer(host, resident));
  return made;
}

const OperationBuffer& ResultCheck::d_of_block() const { return *block_->operation().only_output(); }

CudaResult<> ResultCheck::refer(const HostOperands& host, const ResidentOperands& resident) {
  const Problem& problem = streamed_.problem;
  const std::int64_t elements = rows_ * problem.n;
  std::int64_t largest = 0;
  for (const pipeline::Chunk& block : blocks_) largest = std::max(largest, block.extent);
  auto reference = DeviceBuffer::allocate(elements * static_cast<std::int64_t>(sizeof(double)));
  auto scale = DeviceBuffer::allocate(elements * static_cast<std::int64_t>(sizeof(float)));
  auto results = DeviceBuffer::allocate(sizeof(Comparison));
  auto d = DeviceBuffer::allocate(elements * streamed_.element_bytes(Matrix::kD));
  // B as a whole and a block of A, only for the reference.
  auto b = DeviceBuffer::allocate(streamed_.b ? streamed_.bytes(Matrix::kB) : 0);
  auto a = DeviceBuffer::allocate(largest * problem.k * streamed_.element_bytes(Matrix::kA));
  for (const auto* buffer : {&reference, &scale, &results, &d, &a, &b}) {
    if (!*buffer) return tl::unexpected(buffer->error());
  }
  reference_ = std::move(*reference);
  scale_ = std::move(*scale);
  results_ = std::move(*results);
  d_ = std::move(*d);
  if (streamed_.b) {
    const HostBuffer& from = host[Matrix::kB];
    if (auto ok = copy_rows(b->data(), from.data(), from.bytes(), from.bytes(), 1, stream_); !ok) return ok;
  }
  std::int64_t done = 0;
  for (const pipeline::Chunk& block : blocks_) {
    const pipeline::Region region = region_of(streamed_, Matrix::kA, pipeline::Cut::kM, block);
    const std::int64_t element = streamed_.element_bytes(Matrix::kA), pitch = streamed_.columns(Matrix::kA) * element;
    const std::int64_t first = region.row * pitch + region.column * element;
    const std::byte* const from = streamed_.a ? host[Matrix::kA].data() + first
                                              : static_cast<const std::byte*>(device_pointer(resident[0])) + first;
    auto ok = copy_rows(a->data(), from, region.columns * element, pitch, region.rows, stream_).and_then([&] {
      const DeviceSpan whole_b{streamed_.b ? b->address() : resident[1], streamed_.bytes(Matrix::kB)};
      return block_->refer(
          product_operands({a->address(), a->bytes()}, whole_b, {d_.address(), d_.bytes()}), DataDistribution::kUniform,
          0, InOutData::kPresent,
          {reference_.address() + offset<double>(done * problem.n), scale_.address() + offset<float>(done * problem.n)},
          stream_);
    });
    if (!ok) return ok;
    done += block.extent;
  }
  return check(cudaStreamSynchronize(stream_), "computing the reference");
}

std::int64_t ResultCheck::row_in_d(std::int64_t checked_row) const {
  for (const pipeline::Chunk& block : blocks_) {
    if (checked_row < block.extent) return block.first + checked_row;
    checked_row -= block.extent;
  }
  return checked_row;
}

CudaResult<> ResultCheck::compare() const {
  const OperationBuffer& d = d_of_block();
  CudaResult<> ok;
  for (std::int64_t first = 0; ok && first < rows_ * streamed_.problem.n; first += d.elements())
    ok = helpers_->compare_tensor(d_.address() + static_cast<std::uint64_t>(first * element_bytes(d.type)), d,
                                  reference_.address(), scale_.address(), first, kPoison, results_.address(), stream_);
  return ok;
}

CudaResult<CheckedResult> ResultCheck::look(const HostOperands& host, std::uint64_t resident_d) const {
  const Problem& problem = streamed_.problem;
  const std::int64_t element = streamed_.element_bytes(Matrix::kD), pitch = problem.n * element;
  const std::byte* const d =
      resident_d != 0 ? static_cast<const std::byte*>(device_pointer(resident_d)) : host[Matrix::kD].data();
  std::int64_t done = 0;
  for (const pipeline::Chunk& block : blocks_) {
    auto ok = copy_rows(static_cast<std::byte*>(d_.data()) + done * pitch, d + block.first * pitch, pitch, pitch,
                        block.extent, stream_);
    if (!ok) return tl::unexpected(ok.error());
    done += block.extent;
  }
  CheckFindings findings;
  auto ok =
      check(cudaMemcpyAsync(results_.data(), &findings.comparison, sizeof(Comparison), cudaMemcpyHostToDevice, stream_),
            "clearing results")
          .and_then([&] { return compare(); })
          .and_then([&] { return check(cudaStreamSynchronize(stream_), "comparing the result"); })
          .and_then([&] { return fetch(&findings.comparison, results_.data(), sizeof(Comparison)); });
  if (!ok) return tl::unexpected(ok.error());
  CheckedResult result;
  result.report = check_report(findings);
  if (findings.comparison.wrong == 0) return result;

  const auto index = static_cast<std::int64_t>(findings.comparison.first_wrong);
  std::uint32_t bits = 0;
  float scale = 0;
  ok = fetch(&bits, static_cast<std::byte*>(d_.data()) + index * element, static_cast<std::size_t>(element))
           .and_then([&] {
             return fetch(&findings.first_expected, static_cast<double*>(reference_.data()) + index, sizeof(double));
           })
           .and_then([&] { return fetch(&scale, static_cast<float*>(scale_.data()) + index, sizeof(float)); });
  if (!ok) return tl::unexpected(ok.error());
  findings.first_unwritten = bits == poison_at(static_cast<std::uint64_t>(index * element), element);
  findings.first_value = element_value(problem.type_of_c(), bits);
  findings.first_ratio = std::abs(findings.first_value - findings.first_expected) /
                         error_bound(d_of_block()).allowed(findings.first_expected, scale);
  // The position in D itself, of which only some rows were compared.
  findings.comparison.first_wrong =
      static_cast<std::uint64_t>(row_in_d(index / problem.n) * problem.n + index % problem.n);
  result.fault = fault_text(findings, *problem.operation);
  return result;
}

}  // namespace pgtune::gpu
