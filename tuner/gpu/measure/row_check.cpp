// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/row_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "tuner/gpu/launch/handles.hpp"
#include "tuner/gpu/measure/check/operand_buffers.hpp"
#include "tuner/gpu/measure/loaded_variant.hpp"

namespace pgtune::gpu {
namespace {

constexpr std::int64_t kFirstRows[] = {1, 7, 63, 64, 65};
constexpr std::int64_t kLonely = 7;        ///< every so many rows have neighbours of NaN
constexpr std::int64_t kMostLonely = 600;  ///< rows of such a product that are looked at
constexpr std::int64_t kNotTakenBack = 8;  ///< terms of a sum that are left where the rest cancels
constexpr std::int64_t kAlignment = 16;    ///< of pointers, as an exported call wants it

/// An operand of lines (rows of A, columns of B) of K elements.
struct Lines {
  std::int64_t count, step, k_step, element_bytes;  ///< steps in elements
  [[nodiscard]] std::size_t at(std::int64_t line, std::int64_t k) const {
    return static_cast<std::size_t>((line * step + k * k_step) * element_bytes);
  }
};

class RowCheck {
 public:
  RowCheck(const Problem& problem, const std::vector<RowsProduct>& products, const HelperKernels& kernels,
           const ProductCalls& calls, OperandSet operands, cudaStream_t stream)
      : problem_(problem),
        products_(products),
        kernels_(kernels),
        calls_(calls),
        operands_(std::move(operands)),
        stream_(stream),
        element_(element_bytes(problem_.dtype)),
        row_of_d_(problem_.ldc * element_bytes(problem_.type_of_c())) {}

  CudaResult<protocol::RowsReport> run() {
    TRY(make_data());
    TRY_ASSIGN(right_, DeviceBuffer::allocate(operands_[Operand::kD].bytes));
    TRY_ASSIGN(sums_, DeviceBuffer::allocate(2 * sizeof(std::uint64_t)));
    TRY(launch(products_.size() - 1, 0));
    if (!report_.wrong.empty()) return report_;
    TRY(check(cudaMemcpyAsync(right_.data(), device_pointer(operands_[Operand::kD].address),
                              static_cast<std::size_t>(right_.bytes()), cudaMemcpyDeviceToDevice, stream_),
              "keeping rows"));
    for (std::size_t i = 0; i < products_.size() && report_.wrong.empty(); ++i) TRY(compare(i, 0));
    for (std::size_t i = 0; i < products_.size(); ++i) {
      for (const std::int64_t first : kFirstRows) {
        if (products_[i].moved && report_.wrong.empty() && first + products_[i].m <= problem_.m && may_begin(first))
          TRY(compare(i, first));
      }
    }
    if (report_.wrong.empty()) TRY(compare_lonely());
    return report_;
  }

 private:
  [[nodiscard]] Lines lines_of_a() const {
    return problem_.trans_a ? Lines{problem_.m, 1, problem_.lda, element_}
                            : Lines{problem_.m, problem_.lda, 1, element_};
  }
  [[nodiscard]] Lines lines_of_b() const {
    return problem_.trans_b ? Lines{problem_.n, problem_.ldb, 1, element_}
                            : Lines{problem_.n, 1, problem_.ldb, element_};
  }

  /// The second half of K takes the first one back, but for a few terms.
  CudaResult<> make_data() {
    TRY(cancel(operands_[Operand::kA], lines_of_a(), true));
    return cancel(operands_[Operand::kB], lines_of_b(), false);
  }
  CudaResult<> cancel(const DeviceSpan& span, const Lines& lines, bool negated) {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(span.bytes));
    TRY(check(cudaMemcpy(bytes.data(), device_pointer(span.address), bytes.size(), cudaMemcpyDeviceToHost),
              "reading operands"));
    const std::int64_t half = problem_.k / 2, apart = std::max<std::int64_t>(half / kNotTakenBack, 1);
    const auto width = static_cast<std::size_t>(element_);
    for (std::int64_t line = 0; line < lines.count; ++line) {
      for (std::int64_t k = 0; k < half; ++k) {
        if (!negated && k % apart == 0) continue;
        unsigned char* const to = bytes.data() + lines.at(line, half + k);
        std::memcpy(to, bytes.data() + lines.at(line, k), width);
        if (negated) to[width - 1] ^= 0x80U;  // the sign
      }
    }
    return write(span, bytes);
  }
  /// On the stream, which waits for no other one, and waits, because the bytes may be gone afterwards.
  CudaResult<> write(const DeviceSpan& span, const std::vector<unsigned char>& bytes) {
    TRY(check(
        cudaMemcpyAsync(device_pointer(span.address), bytes.data(), bytes.size(), cudaMemcpyHostToDevice, stream_),
        "writing operands"));
    return check(cudaStreamSynchronize(stream_), "writing operands");
  }

  /// Rows of a transposed A are columns, which begin at any element.
  [[nodiscard]] bool may_begin(std::int64_t first) const {
    const std::int64_t step = problem_.trans_a ? element_ : problem_.lda * element_;
    return first * step % kAlignment == 0 && first * row_of_d_ % kAlignment == 0;
  }

  [[nodiscard]] OperandSet from_row(std::int64_t first) const {
    OperandSet out = operands_;
    const auto bytes = [&](std::int64_t step) { return static_cast<std::uint64_t>(first * step); };
    out[Operand::kA].address += bytes((problem_.trans_a ? 1 : problem_.lda) * element_);
    out[Operand::kD].address += bytes(row_of_d_);
    out[Operand::kC].address += bytes(row_of_d_);
    return out;
  }

  /// Launches a product on rows from `first` on, over poison.
  CudaResult<> launch(std::size_t number, std::int64_t first) {
    const OperandSet operands = from_row(first);
    std::int64_t bytes = 0;
    report_.wrong = calls_.select(number, operands, bytes);
    if (!report_.wrong.empty()) {
      report_.wrong = fmt::format("no kernel for {} rows: {}", products_[number].m, report_.wrong);
      return {};
    }
    if (bytes > workspace_.bytes()) {
      TRY_ASSIGN(workspace_, DeviceBuffer::allocate(bytes));
    }
    const DeviceSpan& d = operands_[Operand::kD];
    TRY(check(cudaMemsetAsync(device_pointer(d.address), 0xff, static_cast<std::size_t>(d.bytes), stream_),
              "poisoning a result"));
    if (bytes > 0)
      TRY(check(cudaMemsetAsync(workspace_.data(), 0xff, static_cast<std::size_t>(bytes), stream_),
                "poisoning a workspace"));
    report_.wrong = calls_.run(operands, {workspace_.address(), bytes}, stream_);
    ++report_.launches;
    return {};
  }

  /// Whether both have the same bytes.
  CudaResult<bool> equal(const DeviceSpan& a, const DeviceSpan& b) {
    TRY(check(cudaMemsetAsync(sums_.data(), 0, 2 * sizeof(std::uint64_t), stream_), "clearing sums"));
    TRY(kernels_.checksum(a, sums_.address(), stream_));
    TRY(kernels_.checksum(b, sums_.address() + sizeof(std::uint64_t), stream_));
    std::uint64_t sums[2] = {};
    TRY(check(cudaMemcpyAsync(sums, sums_.data(), sizeof sums, cudaMemcpyDeviceToHost, stream_), "reading sums"));
    TRY(check(cudaStreamSynchronize(stream_), "running a kernel"));
    return sums[0] == sums[1];
  }
  CudaResult<bool> equal_rows(std::int64_t rows, std::int64_t first) {
    const auto at = static_cast<std::uint64_t>(first * row_of_d_);
    // The last row ends before its padding.
    const std::int64_t bytes = (rows - 1) * row_of_d_ + problem_.n * element_bytes(problem_.type_of_c());
    return equal({operands_[Operand::kD].address + at, bytes}, {right_.address() + at, bytes});
  }

  CudaResult<> compare(std::size_t number, std::int64_t first) {
    const std::int64_t m = products_[number].m;
    TRY(launch(number, first));
    if (!report_.wrong.empty()) return {};
    TRY_ASSIGN(bool same, equal_rows(m, first));
    if (same) return {};
    std::int64_t row = 0;
    for (; row < m - 1; ++row) {
      TRY_ASSIGN(same, equal_rows(1, first + row));
      if (!same) break;
    }
    report_.wrong = fmt::format("row {} of M = {}{} has other bits than at M = {}", row, m,
                                first > 0 ? fmt::format(", which begins at row {},", first) : "", problem_.m);
    return {};
  }

  /// NaN in all rows but some.
  CudaResult<> compare_lonely() {
    if (problem_.trans_a) return {};
    const DeviceSpan& a = operands_[Operand::kA];
    std::vector<unsigned char> bytes(static_cast<std::size_t>(a.bytes)), nan(bytes.size(), 0xff);
    TRY(check(cudaMemcpy(bytes.data(), device_pointer(a.address), bytes.size(), cudaMemcpyDeviceToHost),
              "reading operands"));
    const auto row = static_cast<std::size_t>(problem_.k * element_);
    for (std::int64_t m = 0; m < problem_.m; m += kLonely) {
      const std::size_t at = lines_of_a().at(m, 0);
      std::memcpy(nan.data() + at, bytes.data() + at, row);
    }
    TRY(write(a, nan));
    for (std::size_t number = 0; number < products_.size(); ++number) {
      if (!products_[number].moved) continue;
      const std::int64_t m = products_[number].m;
      TRY(launch(number, 0));
      for (std::int64_t i = 0; i < std::min(m, kMostLonely) && report_.wrong.empty(); i += kLonely) {
        TRY_ASSIGN(const auto same, equal_rows(1, i));
        if (!same) report_.wrong = fmt::format("row {} of M = {} has other bits beside NaN", i, m);
      }
      if (!report_.wrong.empty()) break;
    }
    return {};
  }

  const Problem& problem_;
  const std::vector<RowsProduct>& products_;
  const HelperKernels& kernels_;
  const ProductCalls& calls_;
  OperandSet operands_;
  cudaStream_t stream_;
  std::int64_t element_, row_of_d_;  ///< bytes
  DeviceBuffer right_, sums_, workspace_;
  protocol::RowsReport report_;
};

}  // namespace

CudaResult<protocol::RowsReport> check_rows(const Problem& problem, const std::vector<RowsProduct>& products,
                                            const HelperKernels& kernels, const OperationKernels& operation,
                                            const ProductCalls& calls, cudaStream_t stream) {
  TRY_ASSIGN(const auto buffers, OperandBuffers::allocate(kernels, operation, {}, 1, stream));
  TRY(buffers.fill(0, stream));
  TRY(check(cudaStreamSynchronize(stream), "filling operands"));
  return RowCheck(problem, products, kernels, calls, buffers.copies()[0], stream).run();
}

CudaResult<protocol::RowsReport> check_rows(const protocol::RowsRequest& request, const Driver& driver,
                                            const HelperKernels& kernels, const OperationKernels& operation,
                                            cudaStream_t stream) {
  std::vector<Module> modules;
  modules.reserve(request.kernels.size());
  for (const BuildInfo& build : request.kernels) {
    TRY_ASSIGN(auto module, load_modules(driver, build));
    modules.push_back(std::move(module));
  }
  std::vector<RowsProduct> products;
  for (const auto& product : request.products) {
    if (product.kernel < 0 || static_cast<std::size_t>(product.kernel) >= modules.size())
      return tl::unexpected(CudaFailure{0, "", "a product without its kernel", "comparing rows", false});
    products.push_back({product.m, product.moved});
  }
  std::size_t selected = 0;
  std::optional<PreparedPlan> prepared;  // until the stream is done with it
  const ProductCalls calls{[&](std::size_t number, const OperandSet&, std::int64_t& bytes) {
                             selected = number;
                             bytes = request.products[number].plan.workspace_bytes;
                             return std::string();
                           },
                           [&](OperandSet operands, const DeviceSpan& workspace, cudaStream_t on) -> std::string {
                             const auto& product = request.products[selected];
                             const auto kernel = static_cast<std::size_t>(product.kernel);
                             operands.workspace = workspace;
                             auto plan = PreparedPlan::prepare(driver, modules[kernel],
                                                               with_symbols(product.plan, request.kernels[kernel]),
                                                               {operands}, 0);
                             if (!plan) return plan.error().message();
                             prepared.emplace(std::move(*plan));
                             const auto launched = prepared->launch(0, on);
                             return launched ? "" : launched.error().message();
                           }};
  return check_rows(request.problem, products, kernels, operation, calls, stream);
}

}  // namespace pgtune::gpu
