// SPDX-License-Identifier: MIT
#include "pipeline/worker/current_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/plan/chunk_plan.hpp"
#include "pipeline/plan/host_nodes.hpp"
#include "tuner/gpu/measure/check/operand_layout.hpp"
#include "tuner/util/host_limits.hpp"

namespace pgtune::gpu {
namespace {

using pipeline::HostMemory;
using pipeline::index_of;
using pipeline::Matrix;

/// Operands of any size are made on the GPU in pieces of this size.
constexpr std::int64_t kPieceBytes = std::int64_t{64} << 20;
/// The share of the free memory reserved for contexts, modules and fragmentation.
constexpr double kUsable = 0.95;

double gib(std::int64_t bytes) { return static_cast<double>(bytes) / (std::int64_t{1} << 30); }

std::int64_t streamed_bytes(const pipeline::StreamedProblem& streamed) {
  return streamed.bytes_in() + streamed.bytes_out();
}

std::map<std::string, ChunkKernels::Origin> origins_of(const std::vector<protocol::ChunkKernel>& kernels) {
  std::map<std::string, ChunkKernels::Origin> origins;
  for (const protocol::ChunkKernel& kernel : kernels)
    origins[kernel.problem.key()] = kernel.guessed ? ChunkKernels::Origin::kGuessed : ChunkKernels::Origin::kStored;
  return origins;
}

HostPlace place_of(const pipeline::Candidate& candidate) { return {candidate.memory, candidate.host_node}; }

Error to_usage(const CudaFailure& failure, const pipeline::StreamedProblem& streamed) {
  if (failure.code != cudaErrorMemoryAllocation) return to_error(failure);
  return {ErrorKind::kUsage,
          fmt::format("{} does not fit: {}; stream more of its operands, or choose a smaller problem", streamed.title(),
                      failure.message()),
          {}};
}

}  // namespace

CurrentPipeline::CurrentPipeline(const Tools& tools, const protocol::PipelinePrepare& request)
    : tools_(&tools),
      streamed_(request.streamed),
      limits_{.pinned_bytes = request.pinned_limit_bytes},
      host_(request.streamed, request.pinned_limit_bytes),
      library_kernels_(tools.library),
      built_kernels_(tools.driver, tools.helpers, request.kernels, tools.max_window_bytes),
      kernels_(library_kernels_, built_kernels_, origins_of(request.kernels)) {}

Result<std::unique_ptr<CurrentPipeline>> CurrentPipeline::create(const Tools& tools,
                                                                 const protocol::PipelinePrepare& request) {
  if (!request.streamed.problem.operation || !request.block.operation)
    return fail(ErrorKind::kInternal, fmt::format("{} came without its operation", request.streamed.title()));
  const std::int64_t needed = streamed_bytes(request.streamed);
  if (const auto available = available_memory_bytes(); available && needed > *available)
    return fail(ErrorKind::kUsage,
                fmt::format("{} needs {:.1f} GiB of host memory and {:.1f} are available; choose a smaller problem",
                            request.streamed.title(), gib(needed), gib(*available)));
  std::unique_ptr<CurrentPipeline> current(new CurrentPipeline(tools, request));
  if (auto ok = current->make_operands(request.conditions); !ok)
    return tl::unexpected(to_usage(ok.error(), request.streamed));
  TRY_ASSIGN(auto block,
             OperationKernels::create(tools.driver, tools.helpers, request.block.operation, tools.architecture));
  current->block_ = std::move(block);
  auto check = ResultCheck::create(request.streamed, current->host_.pageable(), current->resident_addresses_,
                                   tools.helpers, *current->block_, tools.stream);
  if (!check) return tl::unexpected(to_usage(check.error(), request.streamed));
  current->check_ = std::move(*check);
  const auto batched_copies = has_batched_copies();
  if (!batched_copies) return tl::unexpected(to_error(batched_copies.error()));
  current->limits_.batched_copies = *batched_copies;
  std::size_t free_bytes = 0, total_bytes = 0;
  if (auto ok = gpu::check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free memory"); !ok)
    return tl::unexpected(to_error(ok.error()));
  std::int64_t resident_bytes = 0;
  for (const DeviceBuffer& buffer : current->resident_) resident_bytes += buffer.bytes();
  current->limits_.device_bytes = static_cast<std::int64_t>(kUsable * static_cast<double>(free_bytes)) + resident_bytes;
  return current;
}

CudaResult<> CurrentPipeline::make_operands(const Conditions& conditions) {
  if (auto ok = host_.allocate_pageable(); !ok) return ok;
  for (const Matrix matrix : pipeline::kMatrices) {
    if (!streamed_.streams(matrix)) {
      TRY_ASSIGN(auto buffer, DeviceBuffer::allocate(streamed_.bytes(matrix)));
      resident_[index_of(matrix)] = std::move(buffer);
      resident_addresses_[index_of(matrix)] = resident_[index_of(matrix)].address();
    }
    if (matrix == Matrix::kD) continue;
    if (auto ok = fill(matrix, conditions); !ok) return ok;
  }
  return gpu::check(cudaStreamSynchronize(tools_->stream), "filling operands");
}

/// The same data for any memory of the matrix: each piece has its own random stream under the seed.
CudaResult<> CurrentPipeline::fill(Matrix matrix, const Conditions& conditions) {
  const std::int64_t rows = streamed_.rows(matrix), columns = streamed_.columns(matrix);
  const std::int64_t row_bytes = columns * streamed_.element_bytes(matrix);
  const std::int64_t piece_rows = std::clamp<std::int64_t>(kPieceBytes / row_bytes, 1, rows);
  const ElementType type =
      matrix == Matrix::kA ? type_of_a(streamed_.problem.dtype) : type_of_b(streamed_.problem.dtype);
  TRY_ASSIGN(auto piece, DeviceBuffer::allocate(streamed_.streams(matrix) ? piece_rows * row_bytes : 0));
  for (std::int64_t row = 0; row < rows; row += piece_rows) {
    const std::int64_t count = std::min(piece_rows, rows - row);
    const auto seed = conditions.data_seed +
                      static_cast<std::uint64_t>(2 * row + (matrix == Matrix::kB ? 1 : 0)) * 0x9e3779b97f4a7c15ULL;
    const std::uint64_t to = streamed_.streams(matrix)
                                 ? piece.address()
                                 : resident_addresses_[index_of(matrix)] + static_cast<std::uint64_t>(row * row_bytes);
    auto ok = tools_->helpers.fill_tensor(to, matrix_of(type, count, columns, columns), conditions.data, seed,
                                          tools_->stream);
    if (!ok) return ok;
    if (!streamed_.streams(matrix)) continue;
    ok =
        gpu::check(cudaMemcpyAsync(host_.pageable()[matrix].data() + row * row_bytes, piece.data(),
                                   static_cast<std::size_t>(count * row_bytes), cudaMemcpyDeviceToHost, tools_->stream),
                   "filling operands");
    if (!ok) return ok;
  }
  return gpu::check(cudaStreamSynchronize(tools_->stream), "filling operands");
}

pipeline::Prepared CurrentPipeline::prepared() const {
  return {limits_.device_bytes, limits_.pinned_bytes,   check_->rows(),
          tools_->library,      limits_.batched_copies, choosable_host_nodes()};
}

std::int64_t CurrentPipeline::ring_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& loaded : loaded_) {
    if (loaded->candidate().memory == HostMemory::kStaged) bytes += pinned_bytes(streamed_, loaded->candidate());
  }
  return bytes;
}

CudaResult<LoadedPipeline*> CurrentPipeline::load(const pipeline::Candidate& candidate) {
  const auto known = std::find_if(loaded_.begin(), loaded_.end(),
                                  [&](const auto& loaded) { return loaded->candidate() == candidate; });
  if (known != loaded_.end()) return known->get();
  const bool staged = candidate.memory == HostMemory::kStaged;
  const auto drop = [this](const HostPlace& place) {
    std::erase_if(loaded_, [&](const auto& loaded) {
      const HostPlace other = place_of(loaded->candidate());
      return other == place || (place.memory == HostMemory::kPinned && other.memory == HostMemory::kMapped);
    });
  };
  // One ring at a time, and together with whole operands only if both may be pinned.
  const std::int64_t wanted = pinned_bytes(streamed_, candidate);
  if (staged || wanted + ring_bytes() > limits_.pinned_bytes) drop({HostMemory::kStaged, {}});
  TRY_ASSIGN(const auto host, host_.of(place_of(candidate), staged ? wanted : ring_bytes(), drop));
  auto loaded = LoadedPipeline::load(streamed_, candidate, *host, resident_addresses_, kernels_);
  if (!loaded && loaded.error().code == cudaErrorMemoryAllocation && !loaded_.empty()) {
    // Other loaded pipelines may fill the memory.
    loaded_.clear();
    loaded = LoadedPipeline::load(streamed_, candidate, *host, resident_addresses_, kernels_);
  }
  if (!loaded) return tl::unexpected(loaded.error());
  loaded_.push_back(std::move(*loaded));
  return loaded_.back().get();
}

void CurrentPipeline::keep(const std::vector<pipeline::Candidate>& keep) {
  std::erase_if(loaded_, [&](const auto& loaded) {
    return std::find(keep.begin(), keep.end(), loaded->candidate()) == keep.end();
  });
}

void CurrentPipeline::refuse_guesses(const pipeline::Candidate& candidate) {
  for (const pipeline::Chunk& chunk : chunks_of(streamed_.problem, candidate.cut, candidate.chunk))
    kernels_.refuse_guess(chunk_problem(streamed_, candidate, chunk));
}

CudaResult<CheckedResult> CurrentPipeline::check(LoadedPipeline& loaded) {
  HostOperandSets::poison_d(loaded.host(), kPoison);
  const DeviceBuffer& d = resident_[index_of(Matrix::kD)];
  pipeline::RunSample once;
  std::vector<DeviceSpan> spans = loaded.buffers();
  if (d.bytes() > 0) spans.push_back({d.address(), d.bytes()});
  CudaResult<> ok;
  for (const DeviceSpan& span : spans)
    ok = ok.and_then([&] { return tools_->helpers.fill_pattern(span, kPoison, tools_->stream); });
  ok = ok.and_then([&] { return gpu::check(cudaStreamSynchronize(tools_->stream), "poisoning D"); }).and_then([&] {
    return loaded.run(once);
  });
  if (!ok) return tl::unexpected(ok.error());
  return check_->look(loaded.host(), d.address());
}

}  // namespace pgtune::gpu
