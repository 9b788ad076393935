// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/product_operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace pgtune::gpu {
namespace {

constexpr std::int64_t kScaledMultiple = 4;

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
std::int64_t blocks(std::int64_t elements) { return (elements + kScaledBlock - 1) / kScaledBlock; }

tl::unexpected<Error> refused(std::string_view what, std::size_t group, std::int64_t number) {
  return fail(ErrorKind::kInternal, fmt::format("{} of group {}: {}", what, group, number));
}

constexpr std::int64_t kLibraryAlignment = 16;  // bytes, of rows and of scales
constexpr std::int64_t kFloatBytes = sizeof(float);

std::int64_t round_up_to_16(std::int64_t bytes) {
  return (bytes + kLibraryAlignment - 1) / kLibraryAlignment * kLibraryAlignment;
}

/// Elements from one row to the next if rows are the baseline's own.
std::int64_t own_row(std::int64_t elements, ElementType type) {
  return round_up_to_16(elements * element_bytes(type)) / element_bytes(type);
}

}  // namespace

Result<std::vector<ProductGroup>> groups_with_rows(const LibraryProduct& product, const ProductGeometry& geometry,
                                                   const std::vector<std::int32_t>& counts) {
  if (!product.offsets && !product.rows) return std::vector<ProductGroup>{{0, 0, geometry.rows}};
  const auto groups = static_cast<std::size_t>(geometry.groups);
  if (counts.size() != groups + (product.offsets ? 1 : 0)) return refused("numbers", groups, geometry.groups);
  std::vector<ProductGroup> out;
  for (std::size_t i = 0; i < groups; ++i) {
    ProductGroup group{static_cast<std::int64_t>(i), 0, counts[i]};
    if (product.offsets) {
      group.first = counts[i];
      group.rows = std::int64_t{counts[i + 1]} - counts[i];
    }
    if (group.first < 0 || group.rows < 0 || group.first + group.rows > geometry.rows)
      return refused(fmt::format("rows from {}", group.first), i, group.rows);
    if (group.rows > 0) out.push_back(group);
  }
  return out;
}

std::int64_t solved_rows(const LibraryProduct& product, std::int64_t rows) {
  return product.is_scaled() ? round_up(rows, kScaledMultiple) : rows;
}

void append_scales_a(const OperationBuffer& buffer, const std::vector<float>& stored, const ProductGroup& group,
                     std::int64_t solved, std::vector<float>& out) {
  const std::size_t rank = buffer.extents.size();
  const std::int64_t matrix = rank > 2 ? group.index * buffer.strides[0] : 0;
  for (std::int64_t block = 0; block < buffer.extents[rank - 1]; ++block) {
    for (std::int64_t row = 0; row < solved; ++row) {
      const std::int64_t at =
          matrix + (group.first + row) * buffer.strides[rank - 2] + block * buffer.strides[rank - 1];
      out.push_back(row < group.rows ? stored.at(static_cast<std::size_t>(at)) : 0);
    }
  }
}

void append_scales_b(const OperationBuffer& buffer, const std::vector<float>& stored, std::int64_t group,
                     std::vector<float>& out) {
  const std::size_t rank = buffer.extents.size();
  const std::int64_t matrix = rank > 2 ? group * buffer.strides[0] : 0, along_k = buffer.extents[rank - 1];
  for (std::int64_t column = 0; column < buffer.extents[rank - 2]; ++column) {
    for (std::int64_t block = 0; block < round_up(along_k, kScaledMultiple); ++block) {
      const std::int64_t at = matrix + column * buffer.strides[rank - 2] + block * buffer.strides[rank - 1];
      out.push_back(block < along_k ? stored.at(static_cast<std::size_t>(at)) : 0);
    }
  }
}

std::int64_t scales_of_a(const ProductGeometry& geometry, std::int64_t solved) {
  return solved * blocks(geometry.depth);
}

std::int64_t scales_of_b(const ProductGeometry& geometry) {
  return blocks(geometry.columns) * round_up(blocks(geometry.depth), kScaledMultiple);
}

std::int64_t ProductOperands::copy_bytes(const LibraryProduct& product, const OperationProblem& problem) {
  if (!product.is_scaled()) return 0;
  const auto type = [&](std::int64_t index) { return problem.buffers[static_cast<std::size_t>(index)].type; };
  const ProductGeometry g = product_geometry(product, problem);
  const std::int64_t rows = solved_rows(product, g.rows) * (product.rows ? g.groups : 1) +
                            (product.offsets ? g.groups * solved_rows(product, 1) : 0);
  return rows * (own_row(g.depth, type(product.a)) * element_bytes(type(product.a)) +
                 own_row(g.columns, type(product.d)) * element_bytes(type(product.d))) +
         (scales_of_a(g, rows) + g.groups * scales_of_b(g)) * kFloatBytes;
}

Result<ProductOperands> ProductOperands::create(const LibraryProduct& product, const OperationProblem& problem,
                                                const OperandBuffers& buffers, cudaStream_t stream) {
  ProductOperands operands(product, problem, buffers);
  const auto failed = [](const CudaFailure& failure) { return tl::unexpected(to_error(failure)); };
  if (auto ok = check(cudaStreamSynchronize(stream), "filling the operands"); !ok) return failed(ok.error());
  for (std::size_t copy = 0; copy < buffers.copies().size(); ++copy) {
    TRY_ASSIGN(auto groups, operands.read_groups(copy));
    operands.own_.emplace_back().groups = std::move(groups);
  }
  TRY(operands.choose_layout());
  for (std::size_t copy = 0; copy < operands.own_.size(); ++copy) {
    Own& own = operands.own_[copy];
    auto ok = operands.allocate(own).and_then([&] { return operands.copy_rows(copy, own, stream); }).and_then([&] {
      return operands.copy_scales(copy, own, stream);
    });
    if (!ok) return failed(ok.error());
    operands.copies_.push_back(operands.group_products(copy, own));
  }
  return operands;
}

Problem ProductOperands::gemm(std::int64_t rows) const {
  Problem gemm = gemm_;
  gemm.m = rows;
  return gemm;
}

const OperationBuffer& ProductOperands::buffer(std::int64_t index) const {
  return problem_->buffers[static_cast<std::size_t>(index)];
}

std::uint64_t ProductOperands::address(std::size_t copy, std::int64_t index, std::int64_t element) const {
  return buffers_->copies()[copy].buffers[static_cast<std::size_t>(index)].address +
         static_cast<std::uint64_t>(element * element_bytes(buffer(index).type));
}

template <typename T>
CudaResult<std::vector<T>> ProductOperands::fetch(std::size_t copy, std::int64_t index) const {
  std::vector<T> out(static_cast<std::size_t>(buffer(index).stored_elements()));
  return check(cudaMemcpy(out.data(), device_pointer(address(copy, index, 0)), out.size() * sizeof(T),
                          cudaMemcpyDeviceToHost),
               "reading the operands of a baseline")
      .map([&] { return std::move(out); });
}

Result<ProductOperands::Groups> ProductOperands::read_groups(std::size_t copy) const {
  std::vector<std::int32_t> counts;
  if (const auto index = product_.offsets ? product_.offsets : product_.rows) {
    const auto stored = fetch<std::int32_t>(copy, *index);
    if (!stored) return tl::unexpected(to_error(stored.error()));
    for (std::int64_t i = 0; i < buffer(*index).extents[0]; ++i)
      counts.push_back(stored->at(static_cast<std::size_t>(i * buffer(*index).strides[0])));
  }
  return groups_with_rows(product_, geometry_, counts);
}

Result<void> ProductOperands::choose_layout() {
  TRY_ASSIGN(auto gemm, gemm_of(product_, *problem_, geometry_.rows));
  gemm_ = std::move(gemm);
  if (!product_.is_scaled()) return {};
  for (const Own& own : own_) {
    for (const ProductGroup& group : own.groups) added_rows_ = added_rows_ || solved(group) != group.rows;
  }
  const std::int64_t lda = own_row(geometry_.depth, buffer(product_.a).type),
                     ldd = own_row(geometry_.columns, buffer(product_.d).type);
  own_a_ = added_rows_ || gemm_.trans_a || gemm_.lda * element_bytes(gemm_.dtype) % kLibraryAlignment != 0;
  own_d_ = added_rows_ || gemm_.ldc * element_bytes(gemm_.type_of_c()) % kLibraryAlignment != 0;
  if (own_a_) gemm_.trans_a = false, gemm_.lda = lda;
  if (own_d_) gemm_.ldc = ldd;
  return {};
}

CudaResult<> ProductOperands::allocate(Own& own) const {
  std::int64_t rows = 0, scales = 0;
  for (const ProductGroup& group : own.groups) {
    rows += solved(group);
    scales += scales_of_a(geometry_, solved(group)) + scales_of_b(geometry_);
  }
  if (own_a_) own.a.bytes = rows * gemm_.lda * element_bytes(gemm_.dtype);
  if (own_d_) own.d.bytes = rows * gemm_.ldc * element_bytes(gemm_.type_of_c());
  if (product_.is_scaled()) own.scales.bytes = scales * kFloatBytes;
  const std::int64_t bytes = own.a.bytes + own.d.bytes + own.scales.bytes;
  if (bytes == 0) return {};
  TRY_ASSIGN(auto memory, DeviceBuffer::allocate(bytes));
  own.memory = std::move(memory);
  own.a.address = own.memory.address();
  own.d.address = own.a.address + static_cast<std::uint64_t>(own.a.bytes);
  own.scales.address = own.d.address + static_cast<std::uint64_t>(own.d.bytes);
  return {};
}

CudaResult<> ProductOperands::copy_rows(std::size_t copy, const Own& own, cudaStream_t stream) const {
  if (!own_a_) return {};
  const OperationBuffer& a = buffer(product_.a);
  const std::int64_t bytes = element_bytes(a.type), along_k = a.strides.back();
  const HelperKernels& kernels = buffers_->kernels();
  CudaResult<> ok = kernels.fill_pattern(own.a, 0, stream);
  std::uint64_t to = own.a.address;
  for (const ProductGroup& group : own.groups) {
    if (!ok) return ok;
    const std::int64_t first = group.index * geometry_.group_a + group.first * geometry_.row_a;
    // Scales belong to elements of one byte, which may be copied in any order.
    ok = kernels.copy_matrix({address(copy, product_.a, first), geometry_.row_a * bytes, along_k * bytes, 0},
                             {to, gemm_.lda * bytes, 1, 0}, group.rows, geometry_.depth * bytes, 1, stream);
    to += static_cast<std::uint64_t>(solved(group) * gemm_.lda * bytes);
  }
  return ok;
}

CudaResult<> ProductOperands::copy_scales(std::size_t copy, const Own& own, cudaStream_t stream) const {
  if (!product_.is_scaled()) return {};
  TRY_ASSIGN(const auto of_a, fetch<float>(copy, *product_.scale_a));
  TRY_ASSIGN(const auto of_b, fetch<float>(copy, *product_.scale_b));
  std::vector<float> scales;
  for (const ProductGroup& group : own.groups) {
    append_scales_a(buffer(*product_.scale_a), of_a, group, solved(group), scales);
    append_scales_b(buffer(*product_.scale_b), of_b, group.index, scales);
  }
  return check(cudaMemcpyAsync(device_pointer(own.scales.address), scales.data(), scales.size() * sizeof(float),
                               cudaMemcpyHostToDevice, stream),
               "laying out a baseline's scales")
      .and_then([&] { return check(cudaStreamSynchronize(stream), "laying out a baseline's scales"); });
}

std::vector<GroupProduct> ProductOperands::group_products(std::size_t copy, const Own& own) const {
  const std::int64_t bytes_a = element_bytes(gemm_.dtype), bytes_d = element_bytes(gemm_.type_of_c());
  // Scales are in the order of copy_scales().
  std::int64_t rows = 0, scales = 0;
  const auto take_scales = [&](std::int64_t count) {
    return own.scales.address + static_cast<std::uint64_t>((std::exchange(scales, scales + count)) * kFloatBytes);
  };
  std::vector<GroupProduct> out;
  for (const ProductGroup& group : own.groups) {
    GroupProduct product{solved(group), {}};
    MatmulOperands& operands = product.operands;
    operands.a = own_a_ ? own.a.address + static_cast<std::uint64_t>(rows * gemm_.lda * bytes_a)
                        : address(copy, product_.a, group.index * geometry_.group_a + group.first * geometry_.row_a);
    operands.b = address(copy, product_.b, group.index * geometry_.group_b);
    operands.d = own_d_ ? own.d.address + static_cast<std::uint64_t>(rows * gemm_.ldc * bytes_d)
                        : address(copy, product_.d, group.index * geometry_.group_d + group.first * geometry_.row_d);
    operands.c = operands.d;
    if (product_.is_scaled()) {
      operands.scale_a = take_scales(scales_of_a(geometry_, product.rows));
      operands.scale_b = take_scales(scales_of_b(geometry_));
    }
    rows += product.rows;
    out.push_back(product);
  }
  return out;
}

CudaResult<> ProductOperands::poison(std::size_t copy, cudaStream_t stream) const {
  if (!own_d_) return {};
  return buffers_->kernels().fill_pattern(own_[copy].d, kPoison, stream);
}

CudaResult<> ProductOperands::deliver(std::size_t copy, cudaStream_t stream) const {
  if (!own_d_) return {};
  const std::int64_t bytes = element_bytes(gemm_.type_of_c());
  CudaResult<> ok;
  for (std::size_t i = 0; ok && i < own_[copy].groups.size(); ++i) {
    const ProductGroup& group = own_[copy].groups[i];
    const std::int64_t first = group.index * geometry_.group_d + group.first * geometry_.row_d;
    ok = buffers_->kernels().copy_matrix({copies_[copy][i].operands.d, gemm_.ldc * bytes, 1, 0},
                                         {address(copy, product_.d, first), geometry_.row_d * bytes, 1, 0}, group.rows,
                                         geometry_.columns * bytes, 1, stream);
  }
  return ok;
}

}  // namespace pgtune::gpu
