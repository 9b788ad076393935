// SPDX-License-Identifier: MIT
// The operations' references and templates, and the check's own kernels, run on the host: a template's result passes
// under its operation's error rule, and what nobody computed does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>

#include "tests/gpu/operation_cases.hpp"
#include "tests/operations/emulated_kernels.hpp"
#include "tuner/model/architectures.hpp"
#include "tuner/space/enumerate.hpp"
#include "tuner/space/plan.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::testing {
namespace {

constexpr std::uint32_t kPoison = 0x7fc57fc5;
constexpr std::int64_t kGuard = 64;  // bytes behind each buffer

/// Layouts of what kernels/tensors.cuh and kernels/comparison.cuh take.
struct Tensor {
  std::int64_t extent[4] = {}, stride[4] = {}, packed[4] = {};
  std::int64_t stored = 0;
  std::int32_t rank = 0, type = 0;
};
struct Bound {
  double per_scale, per_result, absolute, largest;
};
struct Comparison {
  std::uint64_t wrong = 0, first_wrong = ~0ULL, max_ratio_bits = 0, padding_changed = 0;
  double squared_error = 0, squared_reference = 0;
};

Tensor tensor_of(const OperationBuffer& buffer) {
  Tensor tensor;
  tensor.stored = buffer.stored_elements();
  tensor.type = static_cast<std::int32_t>(buffer.type);
  std::int64_t packed = 1;
  std::vector<std::array<std::int64_t, 3>> dimensions;
  for (std::size_t i = buffer.extents.size(); i-- > 0; packed *= buffer.extents[i])
    if (buffer.extents[i] > 1) dimensions.push_back({buffer.strides[i], buffer.extents[i], packed});
  std::sort(dimensions.rbegin(), dimensions.rend());
  for (const auto& [stride, extent, of_packed] : dimensions) {
    tensor.stride[tensor.rank] = stride;
    tensor.extent[tensor.rank] = extent;
    tensor.packed[tensor.rank++] = of_packed;
  }
  return tensor;
}

/// An operation's problem in host memory.
class Bench {
 public:
  explicit Bench(Problem problem) : problem_(std::move(problem)) {
    std::vector<std::string> symbols{"fill_tensor", "compare_tensor", "store_result", "clear_pieces",
                                     "count_unwritten"};
    for (const ReferenceLaunch& pass : operation().reference) symbols.push_back(pass.symbol);
    for (const OperationBuffer& buffer : operation().buffers)
      if (buffer.kernel) symbols.push_back(buffer.kernel->symbol);
    for (const FillCase& fill_case : operation().cases)
      for (const CaseFill& fill : fill_case.fills)
        if (fill.kernel) symbols.push_back(fill.kernel->symbol);
    std::sort(symbols.begin(), symbols.end());
    symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
    TemplateSource source = operation().source;
    source.contents = "#include \"kernels/tensors.cuh\"\n" + source.contents;
    std::vector<Define> types;
    for (const OperationBuffer& buffer : operation().buffers)
      types.push_back({"TYPE_" + buffer.name, std::to_string(static_cast<int>(buffer.type))});
    kernels_ = std::make_unique<EmulatedKernels>(source, types, symbols);
    std::int64_t elements = 0;
    for (const OperationBuffer& buffer : operation().buffers) {
      memory_.emplace_back(static_cast<std::size_t>((buffer.bytes() + kGuard + 3) / 4 + 4), kPoison);
      if (buffer.is_output()) elements += buffer.elements();
    }
    values_.resize(static_cast<std::size_t>(elements));
    scales_.resize(static_cast<std::size_t>(elements));
  }

  [[nodiscard]] bool usable() const { return kernels_->usable(); }
  [[nodiscard]] const OperationProblem& operation() const { return *problem_.operation; }

  void fill() {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const OperationBuffer& buffer = operation().buffers[i];
      if (buffer.kernel) launch(*buffer.kernel);
      if (!buffer.is_input() || buffer.kernel || buffer.fill == FillKind::kLinked) continue;
      fill(i, buffer.fill, buffer.first, buffer.second);
    }
  }
  void fill(const FillCase& fill_case) {
    fill();
    for (const CaseFill& own : fill_case.fills) {
      if (own.kernel) launch(*own.kernel);
      if (!own.kernel) fill(static_cast<std::size_t>(own.buffer), own.fill, own.first, own.second);
    }
  }

  void refer() {
    std::memset(values_.data(), 0xff, values_.size() * sizeof(double));
    std::fill(scales_.begin(), scales_.end(), 1.0F);
    for (const ReferenceLaunch& pass : operation().reference) launch(pass);
  }

  [[nodiscard]] std::uint64_t unwritten() const {
    std::uint64_t count = 0;
    std::uint64_t* out = &count;
    const double* values = values_.data();
    auto elements = static_cast<std::int64_t>(values_.size());
    kernels_->launch("count_unwritten", {1, 1, 1}, {32, 1, 1}, {&values, &elements, &out});
    return count;
  }

  void poison() {
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if (!operation().buffers[i].is_input()) std::fill(memory_[i].begin(), memory_[i].end(), kPoison);
  }

  /// Puts the reference, rounded and shifted, or zeros into the outputs.
  void store(std::int64_t shift, bool zero) {
    poison();
    for_outputs([&](const OperationBuffer& buffer, void* memory, std::int64_t first) {
      Tensor tensor = tensor_of(buffer);
      const double* values = values_.data();
      std::int64_t elements = buffer.elements();
      auto zeros = static_cast<std::int32_t>(zero);
      kernels_->launch("store_result", {1, 1, 1}, {64, 1, 1},
                       {&memory, &tensor, &values, &first, &elements, &shift, &zeros});
    });
  }

  [[nodiscard]] Comparison compare() {
    Comparison found;
    for_outputs([&](const OperationBuffer& buffer, void* memory, std::int64_t first) {
      Tensor tensor = tensor_of(buffer);
      const double* values = values_.data();
      const float* scales = scales_.data();
      Bound bound{buffer.error.per_scale, buffer.error.per_result, buffer.error.absolute, traits(buffer.type).largest};
      double not_finite = 1e30;
      std::uint32_t pattern = kPoison;
      Comparison* out = &found;
      kernels_->launch("compare_tensor", {2, 1, 1}, {64, 1, 1},
                       {&memory, &tensor, &values, &scales, &first, &bound, &not_finite, &pattern, &out});
    });
    return found;
  }

  /// Behind the outputs nothing was written.
  [[nodiscard]] bool guards_hold() const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const auto* const bytes = reinterpret_cast<const unsigned char*>(memory_[i].data());
      for (std::int64_t at = operation().buffers[i].bytes(); at < operation().buffers[i].bytes() + kGuard; ++at)
        if (bytes[at] != (kPoison >> 8 * (at % 4) & 0xff)) return false;
    }
    return true;
  }

  void run(const space::TemplateDefinition& definition, const Variant& variant, const DeviceInfo& device) {
    const auto plan = space::make_launch_plan(definition, variant, problem_, device);
    const auto defines = space::make_defines(definition, variant, problem_, device);
    ASSERT_TRUE(plan && defines) << variant.key();
    std::vector<std::string> symbols;
    for (const KernelLaunch& kernel : plan->kernels) symbols.push_back(kernel.symbol);
    // Its own stand-in for what is PTX.
    TemplateSource source = *definition.source;
    std::erase_if(source.headers, [](const SourceFile& header) { return header.name.ends_with("out_element.cuh"); });
    const EmulatedKernels kernels(source, *defines, symbols);
    if (!kernels.usable()) return;
    std::vector<std::uint64_t> workspace(static_cast<std::size_t>(plan->workspace_bytes / 8 + 1));
    for (const KernelLaunch& kernel : plan->kernels) {
      std::vector<std::uint64_t> arguments;
      for (const KernelArgument& argument : kernel.arguments) {
        std::uint64_t bits = 0;
        const auto real = static_cast<float>(argument.real);
        if (argument.kind == ArgumentKind::kPointer) {
          const auto buffer = buffer_of_operand(argument.operand);
          bits = reinterpret_cast<std::uint64_t>(buffer ? static_cast<void*>(memory_[*buffer].data())
                                                        : static_cast<void*>(workspace.data()));
        } else if (argument.kind == ArgumentKind::kFloat32) {
          std::memcpy(&bits, &real, sizeof(real));
        } else {
          bits = static_cast<std::uint64_t>(argument.integer);
        }
        arguments.push_back(bits);
      }
      std::vector<void*> pointers;
      for (std::uint64_t& argument : arguments) pointers.push_back(&argument);
      kernels.launch(kernel.symbol, kernel.grid, kernel.block, pointers);
    }
  }

  /// Zeroes a sixteenth of an input.
  void cut(std::size_t input) {
    const OperationBuffer& buffer = operation().buffers[input];
    void* memory = memory_[input].data();
    Tensor tensor = tensor_of(buffer);
    std::int64_t piece = std::clamp<std::int64_t>(buffer.elements() / 16, 1, 64);
    kernels_->launch("clear_pieces", {1, 1, 1}, {64, 1, 1}, {&memory, &tensor, &piece});
  }

 private:
  void fill(std::size_t index, FillKind how, double first, double second) {
    const OperationBuffer& buffer = operation().buffers[index];
    Tensor tensor = tensor_of(buffer);
    void* memory = memory_[index].data();
    auto kind = static_cast<std::int32_t>(how), uniform = 0;
    std::uint64_t seed = 42 + index;
    auto range = static_cast<float>(traits(buffer.type).data_range);
    kernels_->launch("fill_tensor", {2, 1, 1}, {64, 1, 1},
                     {&memory, &tensor, &kind, &first, &second, &seed, &uniform, &range});
  }

  void launch(const ReferenceLaunch& launch) {
    std::vector<std::uint64_t> arguments;
    for (const ReferenceArgument& argument : launch.arguments) arguments.push_back(bits_of(argument));
    std::vector<void*> pointers;
    for (std::uint64_t& argument : arguments) pointers.push_back(&argument);
    kernels_->launch(launch.symbol, launch.grid, launch.block, pointers);
  }

  template <typename Visit>
  void for_outputs(const Visit& visit) {
    std::int64_t first = 0;
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const OperationBuffer& buffer = operation().buffers[i];
      if (!buffer.is_output()) continue;
      visit(buffer, static_cast<void*>(memory_[i].data()), first);
      first += buffer.elements();
    }
  }

  [[nodiscard]] std::uint64_t bits_of(const ReferenceArgument& argument) {
    using Kind = ReferenceArgumentKind;
    const auto index = static_cast<std::size_t>(argument.integer);
    if (argument.kind == Kind::kSeed) return 4711;
    if (argument.kind == Kind::kBuffer) return reinterpret_cast<std::uint64_t>(memory_[index].data());
    if (argument.kind == Kind::kFloat32) {
      std::uint64_t bits = 0;
      const auto real = static_cast<float>(argument.real);
      std::memcpy(&bits, &real, sizeof(real));
      return bits;
    }
    if (argument.kind != Kind::kValue && argument.kind != Kind::kScale)
      return static_cast<std::uint64_t>(argument.integer);
    std::size_t first = 0;
    for (std::size_t i = 0; i < index; ++i)
      if (operation().buffers[i].is_output()) first += static_cast<std::size_t>(operation().buffers[i].elements());
    return argument.kind == Kind::kValue ? reinterpret_cast<std::uint64_t>(values_.data() + first)
                                         : reinterpret_cast<std::uint64_t>(scales_.data() + first);
  }

  Problem problem_;
  std::unique_ptr<EmulatedKernels> kernels_;
  std::vector<std::vector<std::uint32_t>> memory_;
  std::vector<double> values_;
  std::vector<float> scales_;
};

struct Case {
  const char* operation;
  const char* sizes;
  std::optional<Dtype> dtype;
  std::vector<const char*> variants;
  friend void PrintTo(const Case& value, std::ostream* out) { *out << value.operation << " " << value.sizes; }
};

class Emulated : public ::testing::TestWithParam<Case> {};

TEST_P(Emulated, TemplatesPassAndNothingElseDoes) {
  const std::filesystem::path path = std::filesystem::path(PGTUNE_SOURCE_DIR) / GetParam().operation;
  const auto definition = operation::load_operation(path);
  ASSERT_TRUE(definition) << definition.error().text();
  const auto problem =
      operation::make_problem(*definition, operation::parse_sizes(GetParam().sizes).value(), GetParam().dtype);
  ASSERT_TRUE(problem) << problem.error().text();
  Bench bench(*problem);
  ASSERT_TRUE(bench.usable());
  bench.fill();
  bench.refer();
  EXPECT_EQ(bench.unwritten(), 0);

  bench.store(0, false);
  EXPECT_EQ(bench.compare().wrong, 0) << "the reference itself";
  bench.store(0, true);
  EXPECT_GT(bench.compare().wrong, 0) << "zeros";
  if (problem->operation->buffers.back().elements() > 1) {
    bench.store(1, false);
    EXPECT_GT(bench.compare().wrong, 0) << "a shifted result";
  }

  DeviceInfo device = architecture_info("sm_90a").value();
  device.sm_count = 3;  // so that persistent CTAs take several tiles
  const auto templates = gpu::templates_of(path, *definition);
  ASSERT_EQ(templates.size(), 1);
  ASSERT_TRUE(templates.front()) << templates.front().error().text();
  for (const char* text : GetParam().variants) {
    const auto variant = space::parse_variant(*templates.front(), text);
    ASSERT_TRUE(variant) << variant.error().text();
    EXPECT_EQ(space::why_illegal(*templates.front(), *variant, *problem, device), std::nullopt) << text;
    bench.poison();
    bench.run(*templates.front(), *variant, device);
    const Comparison found = bench.compare();
    EXPECT_EQ(found.wrong, 0) << text << ", first " << found.first_wrong;
    EXPECT_EQ(found.padding_changed, 0) << text;
    EXPECT_TRUE(bench.guards_hold()) << text;
  }

  for (const FillCase& fill_case : problem->operation->cases) {
    bench.fill(fill_case);
    bench.refer();
    EXPECT_EQ(bench.unwritten(), 0) << fill_case.name;
    const auto variant = space::parse_variant(*templates.front(), GetParam().variants.front());
    bench.poison();
    bench.run(*templates.front(), *variant, device);
    EXPECT_EQ(bench.compare().wrong, 0) << fill_case.name;
  }
  bench.fill();
  bench.refer();

  // A result of inputs that lack a part, against the right one.
  for (std::size_t i = 0; i < problem->operation->buffers.size(); ++i) {
    const OperationBuffer& input = problem->operation->buffers[i];
    // Numbers that say where others belong are not cut: their kernels may rely on them.
    if (!input.is_input() || (traits(input.type).is_integer() && input.kernel)) continue;
    bench.cut(i);
    bench.refer();
    bench.store(0, false);
    bench.fill();
    bench.refer();
    EXPECT_GT(bench.compare().wrong, 0) << "without a part of " << problem->operation->buffers[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shipped, Emulated,
    ::testing::Values(
        Case{"operations/softmax.json",
             "M=5,N=96",
             Dtype::kBf16,
             {"THREADS_PER_ROW=8,ROWS_PER_CTA=8,VEC_BYTES=4,KEEP=registers",
              "THREADS_PER_ROW=64,ROWS_PER_CTA=2,VEC_BYTES=2,KEEP=online"}},
        Case{"operations/softmax.json",
             "M=3,N=68",
             Dtype::kF32,
             {"THREADS_PER_ROW=32,ROWS_PER_CTA=2,VEC_BYTES=16,KEEP=registers"}},
        Case{"operations/rmsnorm.json",
             "M=5,N=104",
             Dtype::kBf16,
             {"THREADS_PER_ROW=64,ROWS_PER_CTA=2,VEC_BYTES=4,KEEP=registers",
              "THREADS_PER_ROW=8,ROWS_PER_CTA=8,VEC_BYTES=16,KEEP=again"}},
        Case{"operations/transpose.json",
             "M=36,N=72",
             Dtype::kBf16,
             {"TILE_ROWS=32,TILE_COLUMNS=32,THREADS=64,READ_BYTES=4,WRITE_BYTES=8,RASTER=along_y"}},
        Case{"operations/transpose.json",
             "M=48,N=20",
             Dtype::kInt8,
             {"TILE_ROWS=32,TILE_COLUMNS=32,THREADS=64,READ_BYTES=4,WRITE_BYTES=4"}},
        Case{"operations/gemm_grouped.json",
             "G=5,M=83,N=72,K=40",
             Dtype::kBf16,
             {"BM=32,BN=64,WM=32,WN=32,STAGES=3,RASTER=along_n",
              "BM=64,BN=64,WM=32,WN=64,BK_BYTES=64,SMEM_LAYOUT=pad,GRID=persistent"}},
        Case{"operations/gemm_block_scaled.json",
             "M=19,N=136,K=144",
             Dtype::kE4m3,
             {"BM=32,BN=64,WM=16,WN=32,STAGES=2", "BM=16,BN=128,WM=16,WN=64,STAGES=4,RASTER=along_n"}},
        Case{"operations/gemm_grouped_block_scaled.json",
             "G=3,M=37,N=136,K=144",
             Dtype::kE4m3,
             {"BM=32,BN=64,WM=32,WN=32,STAGES=3,CTAS_PER_SM=2"}},
        Case{"operations/gemm_masked_block_scaled.json",
             "G=3,R=21,E=9,N=72,K=144",
             Dtype::kE4m3,
             {"BM=16,BN=64,WM=16,WN=32,STAGES=3,GRID=persistent"}},
        Case{"examples/operations/stencil2d/stencil2d.json", "H=19,W=70", std::nullopt, {"THREADS=64,ROWS=8,UNROLL=2"}},
        Case{"examples/operations/reduction/reduction.json",
             "N=20003",
             std::nullopt,
             {"THREADS=128,VECTORS=2,CTAS_PER_SM=1"}}));

}  // namespace
}  // namespace pgtune::testing
