// SPDX-License-Identifier: MIT
#include "tuner/gpu/measure/check/operation_kernels.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "pgtune_measure_kernels.hpp"
#include "tuner/gpu/jit/cubin_cache.hpp"
#include "tuner/gpu/jit/cubin_kernels.hpp"
#include "tuner/gpu/jit/nvrtc.hpp"
#include "tuner/gpu/launch/driver.hpp"
#include "tuner/gpu/measure/check/fault_text.hpp"

namespace pgtune::gpu {
namespace {

/// Apart for neighbouring buffers of a copy.
std::uint64_t buffer_seed(std::uint64_t seed, std::size_t buffer) {
  return seed + (buffer + 1) * 0xa0761d6478bd642fULL;
}

/// Cubins by their sources: problems of one operation and dtype share them.
class CompiledOnce {
 public:
  /// The process's cubins.
  static CompiledOnce& instance() {
    static CompiledOnce cubins;
    return cubins;
  }

  void keep_in(CubinCache folder) {
    const std::scoped_lock lock(mutex_);
    folder_ = std::move(folder);
  }

  [[nodiscard]] std::optional<std::string> find(const CubinKey& key) {
    const std::scoped_lock lock(mutex_);
    if (const auto found = cubins_.find(key.hash()); found != cubins_.end()) return found->second;
    if (!folder_) return std::nullopt;
    std::string cubin;
    if (!folder_->find(key, &cubin)) return std::nullopt;
    cubins_.emplace(key.hash(), cubin);
    return cubin;
  }

  void keep(const CubinKey& key, const std::string& cubin) {
    const std::scoped_lock lock(mutex_);
    cubins_.emplace(key.hash(), cubin);
    // If the folder is not writable, the next process compiles again.
    if (folder_) static_cast<void>(folder_->store(key, cubin, {}));
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> cubins_;
  std::optional<CubinCache> folder_;
};

CubinKey key_of(const TemplateSource& source, const std::vector<std::string>& options, const Toolkit& toolkit) {
  CubinKey key;
  key.add_text("what", "an operation's reference and fills");
  key.add_text("nvrtc", toolkit.nvrtc_identity);
  for (const std::string& option : options) key.add_text("option", option);
  key.add_contents(source.name, source.contents);
  for (const SourceFile& header : source.headers) key.add_contents(header.name, header.contents);
  return key;
}

/// Of all of the operation's own kernels.
std::vector<KernelCall> calls_of(const OperationProblem& operation) {
  std::vector<KernelCall> out;
  const auto add = [&](const ReferenceLaunch& launch) {
    KernelCall& call = out.emplace_back(KernelCall{launch.symbol, {}});
    for (const ReferenceArgument& argument : launch.arguments)
      call.arguments.push_back(
          {std::string(to_string(argument.kind)), argument.kind == ReferenceArgumentKind::kFloat32 ? 4 : 8});
  };
  for (const ReferenceLaunch& pass : operation.reference) add(pass);
  for (const OperationBuffer& buffer : operation.buffers) {
    if (buffer.kernel) add(*buffer.kernel);
  }
  for (const FillCase& fill_case : operation.cases) {
    for (const CaseFill& fill : fill_case.fills) {
      if (fill.kernel) add(*fill.kernel);
    }
  }
  return out;
}

constexpr std::uint32_t kOneAsFloat = 0x3f800000, kAllBits = ~0U;

}  // namespace

void OperationKernels::keep_cubins_in(CubinCache folder) { CompiledOnce::instance().keep_in(std::move(folder)); }

Result<std::string> OperationKernels::compile(const OperationProblem& operation, const std::string& architecture) {
  TemplateSource source = operation.source;
  constexpr std::string_view kHeader = "kernels/operation.cuh";
  for (const embedded::File& header : embedded::pgtune_measure_kernels()) {
    source.headers.push_back(
        {header.path == kHeader ? "operation.cuh" : std::string(header.path), std::string(header.contents)});
  }
  std::vector<std::string> options{"--gpu-architecture=" + architecture, "--std=c++17"};
  for (const OperationBuffer& buffer : operation.buffers)
    options.push_back(fmt::format("-DTYPE_{}={}", buffer.name, static_cast<int>(buffer.type)));
  TRY_ASSIGN(const auto toolkit, find_toolkit());
  for (const std::filesystem::path& folder : toolkit.include_folders) options.push_back("-I" + folder.string());
  const CubinKey key = key_of(source, options, toolkit);
  auto cubin = CompiledOnce::instance().find(key);
  if (!cubin) {
    TRY_ASSIGN(auto program, NvrtcProgram::create(source));
    Compilation compiled = program.compile(options);
    if (compiled.status != NVRTC_SUCCESS)
      return fail(ErrorKind::kUsage, fmt::format("the reference of the operation '{}' does not compile:\n{}",
                                                 operation.name, compiled.log));
    cubin = std::move(compiled.cubin);
    CompiledOnce::instance().keep(key, *cubin);
  }
  if (const auto reason = why_not_callable(*cubin, calls_of(operation)))
    return fail(ErrorKind::kUsage, fmt::format("the reference of the operation '{}': {}", operation.name, *reason));
  return std::move(*cubin);
}

Result<std::unique_ptr<OperationKernels>> OperationKernels::create(const Driver& driver, const HelperKernels& kernels,
                                                                   OperationHandle operation,
                                                                   const std::string& architecture) {
  TRY_ASSIGN(const auto cubin, compile(*operation, architecture));
  auto module = Module::load(driver, cubin);
  if (!module) return tl::unexpected(to_error(module.error()));
  std::unique_ptr<OperationKernels> out(
      new OperationKernels(driver, kernels, std::move(operation), std::move(*module)));
  if (auto ok = out->allocate_initial(); !ok) return tl::unexpected(to_error(ok.error()));
  return out;
}

OperationKernels::OperationKernels(const Driver& driver, const HelperKernels& kernels, OperationHandle operation,
                                   Module module)
    : driver_(&driver), kernels_(&kernels), operation_(std::move(operation)), module_(std::move(module)) {
  std::int64_t first = 0;
  for (std::size_t i = 0; i < operation_->buffers.size(); ++i) {
    const OperationBuffer& buffer = operation_->buffers[i];
    if (!buffer.is_output()) continue;
    outputs_.push_back({i, first});
    first += buffer.elements();
  }
}

bool OperationKernels::refers_elsewhere(const OperationBuffer& buffer) const {
  if (!buffer.pointers) return buffer.role == BufferRole::kInOut;
  return operation_->buffers.at(static_cast<std::size_t>(buffer.pointers->buffer)).role == BufferRole::kInOut;
}

CudaResult<> OperationKernels::allocate_initial() {
  initial_.resize(operation_->buffers.size());
  for (std::size_t i = 0; i < initial_.size(); ++i) {
    if (!refers_elsewhere(operation_->buffers[i])) continue;
    TRY_ASSIGN(auto memory, DeviceBuffer::allocate(operation_->buffers[i].bytes()));
    initial_[i] = std::move(memory);
  }
  return {};
}

CudaResult<> OperationKernels::fill_buffer(std::size_t index, const OperandSet& operands, DataDistribution distribution,
                                           std::uint64_t seed, cudaStream_t stream) const {
  return fill_as(operation_->buffers[index], index, operands, distribution, seed, stream);
}

CudaResult<> OperationKernels::fill_as(const OperationBuffer& buffer, std::size_t index, const OperandSet& operands,
                                       DataDistribution distribution, std::uint64_t seed, cudaStream_t stream) const {
  const std::uint64_t own_seed =
      buffer.stream ? seed + static_cast<std::uint64_t>(*buffer.stream) * kStreamStep : buffer_seed(seed, index);
  if (buffer.fill == FillKind::kLinked || buffer.fill == FillKind::kPointers) return {};
  if (buffer.fill == FillKind::kKernel) return launch(*buffer.kernel, operands, nullptr, own_seed, {}, stream);
  return kernels_->fill_tensor(operands.buffers.at(index).address, buffer, distribution, own_seed, stream);
}

CudaResult<> OperationKernels::fill_array(std::size_t index, const OperandSet& operands, cudaStream_t stream) const {
  const OperationBuffer& array = operation_->buffers[index];
  const auto target = static_cast<std::size_t>(array.pointers->buffer);
  return kernels_->fill_pointers(operands.buffers.at(index).address, array, operands.buffers.at(target).address,
                                 stream);
}

CudaResult<> OperationKernels::fill_pointers(const OperandSet& operands, cudaStream_t stream) const {
  for (std::size_t i = 0; i < operation_->buffers.size(); ++i) {
    if (!operation_->buffers[i].pointers) continue;
    if (auto ok = fill_array(i, operands, stream); !ok) return ok;
  }
  return {};
}

CudaResult<> OperationKernels::fill(const OperandSet& operands, DataDistribution distribution, std::uint64_t seed,
                                    cudaStream_t stream) const {
  // First, for kernels that fill a buffer may follow them.
  if (auto ok = fill_pointers(operands, stream); !ok) return ok;
  for (std::size_t i = 0; i < operation_->buffers.size(); ++i) {
    if (!operation_->buffers[i].is_input() || operation_->buffers[i].absent) continue;
    if (auto ok = fill_buffer(i, operands, distribution, seed, stream); !ok) return ok;
  }
  return {};
}

CudaResult<> OperationKernels::fill_case(std::size_t index, const OperandSet& operands, DataDistribution distribution,
                                         std::uint64_t seed, cudaStream_t stream) const {
  if (auto ok = fill(operands, distribution, seed, stream); !ok) return ok;
  for (const CaseFill& fill : operation_->cases.at(index).fills) {
    const auto place = static_cast<std::size_t>(fill.buffer);
    OperationBuffer buffer = operation_->buffers.at(place);
    buffer.fill = fill.fill;
    buffer.first = fill.first;
    buffer.second = fill.second;
    buffer.kernel = fill.kernel;
    if (auto ok = fill_as(buffer, place, operands, distribution, seed, stream); !ok) return ok;
  }
  return {};
}

CudaResult<> OperationKernels::restore_inouts(const OperandSet& operands, DataDistribution distribution,
                                              std::uint64_t seed, cudaStream_t stream) const {
  for (std::size_t i = 0; i < operation_->buffers.size(); ++i) {
    if (operation_->buffers[i].role != BufferRole::kInOut) continue;
    if (auto ok = fill_buffer(i, operands, distribution, seed, stream); !ok) return ok;
  }
  return {};
}

CudaResult<> OperationKernels::refer(const OperandSet& operands, DataDistribution distribution, std::uint64_t seed,
                                     InOutData inouts, const ReferenceMemory& memory, cudaStream_t stream) const {
  OperandSet inputs = operands;
  if (inouts == InOutData::kFilled) inputs = as_before(operands);
  if (inouts == InOutData::kFilled || operation_->has_residuals()) {
    if (auto ok = keep_initial(operands, distribution, seed, inouts, stream); !ok) return ok;
  }
  auto ok = clear(memory, stream);
  for (const ReferenceLaunch& pass : operation_->reference) {
    if (ok && !pass.judges_result()) ok = launch(pass, inputs, nullptr, seed, memory, stream);
  }
  return ok;
}

CudaResult<> OperationKernels::judge(const OperandSet& operands, DataDistribution distribution, std::uint64_t seed,
                                     InOutData inouts, const ReferenceMemory& memory, cudaStream_t stream) const {
  if (!operation_->has_residuals()) return {};
  const OperandSet inputs = as_before(operands);
  CudaResult<> ok;
  // Again, because launches since may have written anywhere.
  if (inouts == InOutData::kFilled) ok = keep_initial(operands, distribution, seed, inouts, stream);
  if (ok) ok = clear(memory, stream);
  for (const ReferenceLaunch& pass : operation_->reference) {
    if (ok && pass.judges_result()) ok = launch(pass, inputs, &operands, seed, memory, stream);
  }
  return ok;
}

OperandSet OperationKernels::as_before(const OperandSet& operands) const {
  OperandSet out = operands;
  for (std::size_t i = 0; i < initial_.size(); ++i) {
    if (initial_[i].bytes() > 0) out.buffers.at(i) = {initial_[i].address(), initial_[i].bytes()};
  }
  return out;
}

CudaResult<> OperationKernels::keep_initial(const OperandSet& operands, DataDistribution distribution,
                                            std::uint64_t seed, InOutData inouts, cudaStream_t stream) const {
  const OperandSet initial = as_before(operands);
  for (std::size_t i = 0; i < initial_.size(); ++i) {
    if (initial_[i].bytes() == 0) continue;
    // Only these: the operands' own arrays stay unchanged, for later checks of them.
    CudaResult<> ok;
    if (operation_->buffers[i].pointers) {
      ok = fill_array(i, initial, stream);
    } else if (inouts == InOutData::kPresent) {
      ok = check(cudaMemcpyAsync(initial_[i].data(), device_pointer(operands.buffers.at(i).address),
                                 static_cast<std::size_t>(initial_[i].bytes()), cudaMemcpyDeviceToDevice, stream),
                 "keeping what a launch begins with");
    }
    if (!ok) return ok;
  }
  return inouts == InOutData::kFilled ? restore_inouts(initial, distribution, seed, stream) : CudaResult<>{};
}

CudaResult<> OperationKernels::clear(const ReferenceMemory& memory, cudaStream_t stream) const {
  const std::int64_t elements = result_elements(*operation_);
  const auto bytes_of = [&](std::size_t element) { return elements * static_cast<std::int64_t>(element); };
  return kernels_->fill_pattern({memory.values, bytes_of(sizeof(double))}, kAllBits, stream).and_then([&] {
    return kernels_->fill_pattern({memory.scales, bytes_of(sizeof(float))}, kOneAsFloat, stream);
  });
}

CudaResult<> OperationKernels::launch(const ReferenceLaunch& launch, const OperandSet& operands,
                                      const OperandSet* results, std::uint64_t seed, const ReferenceMemory& memory,
                                      cudaStream_t stream) const {
  TRY_ASSIGN(const auto function, module_.function(launch.symbol));
  const auto first_of = [&](std::size_t buffer) {
    std::uint64_t first = 0;
    for (const Output& output : outputs_) {
      if (output.buffer == buffer) first = static_cast<std::uint64_t>(output.first);
    }
    return first;
  };
  std::vector<std::uint64_t> values;
  for (const ReferenceArgument& argument : launch.arguments) {
    const auto buffer = static_cast<std::size_t>(argument.integer);
    switch (argument.kind) {
      case ReferenceArgumentKind::kBuffer:
        // The replacement that templates' kernels receive is not the absent buffer's own memory.
        values.push_back(operation_->buffers.at(buffer).absent ? 0 : operands.buffers.at(buffer).address);
        break;
      case ReferenceArgumentKind::kValue:
        values.push_back(memory.values + first_of(buffer) * sizeof(double));
        break;
      case ReferenceArgumentKind::kScale:
        values.push_back(memory.scales + first_of(buffer) * sizeof(float));
        break;
      case ReferenceArgumentKind::kInt64:
        values.push_back(static_cast<std::uint64_t>(argument.integer));
        break;
      case ReferenceArgumentKind::kFloat32: {
        const auto real = static_cast<float>(argument.real);
        std::uint64_t bits = 0;
        std::memcpy(&bits, &real, sizeof(real));
        values.push_back(bits);
        break;
      }
      case ReferenceArgumentKind::kFloat64:
        values.push_back(std::bit_cast<std::uint64_t>(argument.real));
        break;
      case ReferenceArgumentKind::kSeed:
        values.push_back(seed);
        break;
      case ReferenceArgumentKind::kResult:
        values.push_back(results == nullptr ? 0 : results->buffers.at(buffer).address);
        break;
    }
  }
  std::vector<void*> pointers;
  for (std::uint64_t& value : values) pointers.push_back(&value);
  const CUlaunchConfig config = launch_config(launch.grid, launch.block, stream);
  return check(driver_->launch_kernel(&config, function, pointers.data(), nullptr),
               fmt::format("launching {} of the operation '{}'", launch.symbol, operation_->name));
}

}  // namespace pgtune::gpu
