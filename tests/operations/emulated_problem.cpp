// SPDX-License-Identifier: MIT
#include "tests/operations/emulated_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "tests/operations/emulation/emulated_map.hpp"
#include "tuner/gpu/measure/check/tensors.hpp"
#include "tuner/space/plan.hpp"

namespace pgtune::testing {
namespace {

std::size_t index_of(const OperationProblem& operation, std::string_view buffer) {
  const auto& all = operation.buffers;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == buffer; });
  EXPECT_NE(found, all.end()) << buffer;
  return static_cast<std::size_t>(found - all.begin());
}

EmulatedMap emulated_map(const TensorMapPlan& plan, const void* memory) {
  EmulatedMap map{};
  map.base = static_cast<const unsigned char*>(memory);
  for (std::size_t i = 0; i < 3; ++i) {
    map.dims[i] = plan.dims.at(i);
    map.box[i] = plan.box.at(i);
    if (i < 2) map.strides[i] = plan.strides_bytes.at(i);
  }
  map.element_bytes = element_bytes(plan.type);
  map.swizzle_bytes = plan.swizzle == Swizzle::kNone ? 0 : 16 << static_cast<int>(plan.swizzle);
  return map;
}

constexpr std::uint32_t kPoison = 0x7fc57fc5;
constexpr std::int64_t kGuard = 64;  // bytes behind each buffer

/// Every kernel of the operation's own source.
std::vector<std::string> symbols_of(const OperationProblem& operation) {
  std::vector<std::string> symbols;
  for (const ReferenceLaunch& pass : operation.reference) symbols.push_back(pass.symbol);
  for (const OperationBuffer& buffer : operation.buffers)
    if (buffer.kernel) symbols.push_back(buffer.kernel->symbol);
  for (const FillCase& fill_case : operation.cases)
    for (const CaseFill& fill : fill_case.fills)
      if (fill.kernel) symbols.push_back(fill.kernel->symbol);
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  return symbols;
}

std::uint64_t bits_of_float(double real) {
  const auto narrow = static_cast<float>(real);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &narrow, sizeof(narrow));
  return bits;
}

std::vector<void*> pointers_to(std::vector<std::uint64_t>& arguments) {
  std::vector<void*> pointers;
  for (std::uint64_t& argument : arguments) pointers.push_back(&argument);
  return pointers;
}

}  // namespace

EmulatedProblem::EmulatedProblem(Problem problem) : problem_(std::move(problem)) {
  std::vector<Define> types;
  for (const OperationBuffer& buffer : operation().buffers)
    types.push_back({"TYPE_" + buffer.name, std::to_string(static_cast<int>(buffer.type))});
  kernels_ = std::make_unique<EmulatedKernels>(operation().source, types, symbols_of(operation()));
  std::int64_t elements = 0;
  for (const OperationBuffer& buffer : operation().buffers) {
    memory_.emplace_back(static_cast<std::size_t>((buffer.bytes() + kGuard + 3) / 4 + 4), kPoison);
    if (buffer.is_output()) elements += buffer.elements();
  }
  for (std::vector<double>* of : {&values_, &residuals_}) of->resize(static_cast<std::size_t>(elements));
  for (std::vector<float>* of : {&scales_, &residual_scales_}) of->resize(static_cast<std::size_t>(elements));
}

std::uint64_t EmulatedProblem::address(std::size_t buffer) const {
  return reinterpret_cast<std::uint64_t>(memory_[buffer].data());
}

void EmulatedProblem::fill_pointers(std::size_t index) {
  const OperationBuffer& array = operation().buffers[index];
  void* memory = memory_[index].data();
  for (auto& [runs, batch] : gpu::pointer_batches(array, address(static_cast<std::size_t>(array.pointers->buffer))))
    launch_check("fill_pointers", {runs, 1, 1}, {32, 1, 1}, {&memory, &batch});
}

std::uint64_t EmulatedProblem::pointer_sum(std::string_view name) const {
  const std::size_t index = index_of(operation(), name);
  const OperationBuffer& array = operation().buffers[index];
  const void* memory = memory_[index].data();
  std::int64_t count = array.elements();
  std::uint64_t from = address(static_cast<std::size_t>(array.pointers->buffer)), sum = 0;
  std::uint64_t* out = &sum;
  launch_check("checksum_pointers", {2, 1, 1}, {32, 1, 1}, {&memory, &count, &from, &out});
  return sum;
}

std::uint64_t* EmulatedProblem::words(std::string_view buffer) {
  return reinterpret_cast<std::uint64_t*>(memory_[index_of(operation(), buffer)].data());
}

void EmulatedProblem::fill() {
  for (std::size_t i = 0; i < memory_.size(); ++i)
    if (operation().buffers[i].pointers) fill_pointers(i);
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    const OperationBuffer& buffer = operation().buffers[i];
    if (buffer.kernel) launch(*buffer.kernel);
    if (!buffer.is_input() || buffer.absent || buffer.kernel || buffer.fill == FillKind::kLinked || buffer.pointers)
      continue;
    fill(i, buffer.fill, buffer.first, buffer.second);
  }
}

void EmulatedProblem::fill(const FillCase& fill_case) {
  fill();
  for (const CaseFill& own : fill_case.fills) {
    if (own.kernel) launch(*own.kernel);
    if (!own.kernel) fill(static_cast<std::size_t>(own.buffer), own.fill, own.first, own.second);
  }
}

void EmulatedProblem::fill(std::size_t index, FillKind how, double first, double second) {
  const OperationBuffer& buffer = operation().buffers[index];
  gpu::Tensor tensor = gpu::tensor_of(buffer);
  void* memory = memory_[index].data();
  auto kind = static_cast<std::int32_t>(how), uniform = 0;
  std::uint64_t seed = kSeed + (buffer.stream ? static_cast<std::uint64_t>(*buffer.stream) * kStreamStep : index);
  auto range = static_cast<float>(traits(buffer.type).data_range);
  launch_check("fill_tensor", {2, 1, 1}, {64, 1, 1},
               {&memory, &tensor, &kind, &first, &second, &seed, &uniform, &range});
}

std::vector<std::int32_t> EmulatedProblem::integers(std::string_view buffer) const {
  const std::size_t index = index_of(operation(), buffer);
  std::vector<std::int32_t> out(static_cast<std::size_t>(operation().buffers[index].elements()));
  std::memcpy(out.data(), memory_[index].data(), out.size() * sizeof(std::int32_t));
  return out;
}

void EmulatedProblem::cut(std::size_t input) {
  const OperationBuffer& buffer = operation().buffers[input];
  void* memory = memory_[input].data();
  gpu::Tensor tensor = gpu::tensor_of(buffer);
  std::int64_t piece = std::clamp<std::int64_t>(buffer.elements() / 16, 1, 64);
  launch_check("clear_pieces", {1, 1, 1}, {64, 1, 1}, {&memory, &tensor, &piece});
}

void EmulatedProblem::restore_inouts() {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    const OperationBuffer& buffer = operation().buffers[i];
    if (buffer.role != BufferRole::kInOut) continue;
    if (buffer.kernel) launch(*buffer.kernel);
    if (!buffer.kernel) fill(i, buffer.fill, buffer.first, buffer.second);
  }
}

void EmulatedProblem::refer() {
  restore_inouts();
  std::memset(values_.data(), 0xff, values_.size() * sizeof(double));
  std::fill(scales_.begin(), scales_.end(), 1.0F);
  for (const ReferenceLaunch& pass : operation().reference) {
    if (!pass.judges_result()) launch(pass);
  }
}

std::uint64_t EmulatedProblem::unwritten() const {
  std::uint64_t count = 0;
  std::uint64_t* out = &count;
  const double* values = values_.data();
  auto elements = static_cast<std::int64_t>(values_.size());
  launch_check("count_unwritten", {1, 1, 1}, {32, 1, 1}, {&values, &elements, &out});
  return count;
}

void EmulatedProblem::poison() {
  for (std::size_t i = 0; i < memory_.size(); ++i)
    if (!operation().buffers[i].is_input()) std::fill(memory_[i].begin(), memory_[i].end(), kPoison);
  restore_inouts();
}

template <typename Visit>
void EmulatedProblem::for_outputs(const Visit& visit) {
  std::int64_t first = 0;
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    const OperationBuffer& buffer = operation().buffers[i];
    if (!buffer.is_output()) continue;
    visit(buffer, static_cast<void*>(memory_[i].data()), first);
    first += buffer.elements();
  }
}

void EmulatedProblem::store(std::int64_t shift, bool zero, std::optional<std::size_t> only) {
  poison();
  for_outputs([&](const OperationBuffer& buffer, void* memory, std::int64_t first) {
    const bool wrong = !only || &buffer == &operation().buffers.at(*only);
    gpu::Tensor tensor = gpu::tensor_of(buffer);
    const double* values = values_.data();
    std::int64_t elements = buffer.elements(), by = wrong ? shift : 0;
    auto zeros = static_cast<std::int32_t>(wrong && zero);
    launch_check("store_result", {1, 1, 1}, {64, 1, 1}, {&memory, &tensor, &values, &first, &elements, &by, &zeros});
  });
}

gpu::Comparison EmulatedProblem::compare() {
  gpu::Comparison found;
  std::memset(residuals_.data(), 0xff, residuals_.size() * sizeof(double));
  std::fill(residual_scales_.begin(), residual_scales_.end(), 1.0F);
  for (const ReferenceLaunch& pass : operation().reference) {
    if (pass.judges_result()) launch(pass);
  }
  for_outputs([&](const OperationBuffer& buffer, void* memory, std::int64_t first) {
    gpu::Tensor tensor = gpu::tensor_of(buffer);
    const double* values = buffer.error.of_residual ? residuals_.data() : values_.data();
    const float* scales = buffer.error.of_residual ? residual_scales_.data() : scales_.data();
    gpu::ErrorBound bound = gpu::error_bound(buffer);
    double not_finite = gpu::kNotFiniteRatio;
    std::uint32_t pattern = kPoison;
    gpu::Comparison* out = &found;
    launch_check("compare_tensor", {2, 1, 1}, {64, 1, 1},
                 {&memory, &tensor, &values, &scales, &first, &bound, &not_finite, &pattern, &out});
  });
  return found;
}

bool EmulatedProblem::guards_hold() const {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(memory_[i].data());
    for (std::int64_t at = operation().buffers[i].bytes(); at < operation().buffers[i].bytes() + kGuard; ++at)
      if (bytes[at] != (kPoison >> 8 * (at % 4) & 0xff)) return false;
  }
  return true;
}

void EmulatedProblem::run(const space::TemplateDefinition& definition, const Variant& variant,
                          const DeviceInfo& device) {
  const auto plan = space::make_launch_plan(definition, variant, problem_, device);
  const auto defines = space::make_defines(definition, variant, problem_, device);
  ASSERT_TRUE(plan && defines) << variant.key();
  std::unique_ptr<EmulatedKernels>& kernels = variants_[variant.key()];
  if (!kernels) {
    std::vector<std::string> symbols;
    for (const KernelLaunch& kernel : plan->kernels) symbols.push_back(kernel.symbol);
    // Its own stand-in for what is PTX.
    TemplateSource source = *definition.source;
    std::erase_if(source.headers, [](const SourceFile& header) { return header.name.ends_with("out_element.cuh"); });
    kernels = std::make_unique<EmulatedKernels>(source, *defines, symbols);
  }
  if (!kernels->usable()) return;
  std::vector<EmulatedMap> maps;
  for (const TensorMapPlan& map : plan->tensor_maps)
    maps.push_back(emulated_map(map, memory_[buffer_of_operand(map.operand).value()].data()));
  std::vector<std::uint64_t> workspace(static_cast<std::size_t>(plan->workspace_bytes / 8 + 1));
  for (const KernelLaunch& kernel : plan->kernels) {
    std::vector<std::uint64_t> arguments;
    for (const KernelArgument& argument : kernel.arguments) {
      if (argument.kind == ArgumentKind::kPointer) {
        const auto buffer = buffer_of_operand(argument.operand);
        arguments.push_back(reinterpret_cast<std::uint64_t>(buffer ? static_cast<void*>(memory_[*buffer].data())
                                                                   : static_cast<void*>(workspace.data())));
      } else if (argument.kind == ArgumentKind::kFloat32) {
        arguments.push_back(bits_of_float(argument.real));
      } else {
        arguments.push_back(static_cast<std::uint64_t>(argument.integer));
      }
    }
    std::vector<void*> pointers = pointers_to(arguments);
    for (std::size_t i = 0; i < pointers.size(); ++i)
      if (kernel.arguments[i].kind == ArgumentKind::kTensorMap) pointers[i] = &maps.at(arguments[i]);
    kernels->launch(kernel.symbol, kernel.grid, kernel.block, pointers, kernel.cluster.x);
  }
}

void EmulatedProblem::launch(const ReferenceLaunch& launch) {
  std::vector<std::uint64_t> arguments;
  for (const ReferenceArgument& argument : launch.arguments)
    arguments.push_back(bits_of(argument, launch.judges_result()));
  kernels_->launch(launch.symbol, launch.grid, launch.block, pointers_to(arguments));
}

std::uint64_t EmulatedProblem::bits_of(const ReferenceArgument& argument, bool judges_result) {
  using Kind = ReferenceArgumentKind;
  const auto index = static_cast<std::size_t>(argument.integer);
  if (argument.kind == Kind::kSeed) return 4711;
  if (argument.kind == Kind::kFloat64) return std::bit_cast<std::uint64_t>(argument.real);
  if (argument.kind == Kind::kBuffer && operation().buffers[index].absent) return 0;
  if (argument.kind == Kind::kBuffer || argument.kind == Kind::kResult) return address(index);
  if (argument.kind == Kind::kFloat32) return bits_of_float(argument.real);
  if (argument.kind != Kind::kValue && argument.kind != Kind::kScale)
    return static_cast<std::uint64_t>(argument.integer);
  std::size_t first = 0;
  for (std::size_t i = 0; i < index; ++i)
    if (operation().buffers[i].is_output()) first += static_cast<std::size_t>(operation().buffers[i].elements());
  auto& values = judges_result ? residuals_ : values_;
  auto& scales = judges_result ? residual_scales_ : scales_;
  return argument.kind == Kind::kValue ? reinterpret_cast<std::uint64_t>(values.data() + first)
                                       : reinterpret_cast<std::uint64_t>(scales.data() + first);
}

}  // namespace pgtune::testing
