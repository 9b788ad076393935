// SPDX-License-Identifier: MIT
#include "tuner/gpu/baseline/operation_baselines.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "tuner/gpu/baseline/cublaslt_baseline.hpp"
#include "tuner/gpu/baseline/cublaslt_library.hpp"
#include "tuner/gpu/baseline/grouped_baseline.hpp"
#include "tuner/gpu/baseline/product_baseline.hpp"

namespace pgtune::gpu {
namespace {

// The headers of supported CUDA Toolkits may not declare it.
constexpr const char* kGroupedLayouts = "cublasLtGroupedMatrixLayoutCreate";

constexpr std::int64_t kCopiedWordBytes = 16;

constexpr std::array<std::pair<HelperKernels::Copy, const char*>, HelperKernels::kCopies> kWays{
    {{HelperKernels::Copy::kFourWords, "64 bytes a thread"},
     {HelperKernels::Copy::kTwoWords, "32 bytes a thread"},
     {HelperKernels::Copy::kFourStreaming, "64 bytes a thread, evict first"},
     {HelperKernels::Copy::kEightStreaming, "128 bytes a thread, evict first"}}};

/// The bytes that are read, and that are written: half of the traffic, in whole words.
std::int64_t half_of(double bytes) {
  return std::max<std::int64_t>(static_cast<std::int64_t>(bytes / 2) / kCopiedWordBytes, 1) * kCopiedWordBytes;
}

/// Bytes of memory for copies with this traffic.
std::int64_t copied_bytes(double traffic_bytes, std::int64_t copies) { return 2 * half_of(traffic_bytes) * copies; }

class CopyLaunch final : public Launchable {
 public:
  CopyLaunch(const HelperKernels& kernels, HelperKernels::Copy copy, std::uint64_t memory, std::int64_t half_bytes)
      : kernels_(kernels), copy_(copy), memory_(memory), half_bytes_(half_bytes) {}

  CudaResult<> launch(std::size_t copy, cudaStream_t stream) override {
    const auto half = static_cast<std::uint64_t>(half_bytes_);
    const std::uint64_t from = memory_ + 2 * copy * half;
    return kernels_.copy_words(copy_, from, from + half, half_bytes_, stream);
  }

 private:
  const HelperKernels& kernels_;
  HelperKernels::Copy copy_;
  std::uint64_t memory_;
  std::int64_t half_bytes_;
};

/// The roof of every operation: a copy at this GPU's full speed of as many bytes as the operation must move. Half of
/// them are read and half written, in its own memory, over as many copies as the operands have. Its algorithms are
/// several ways of copying.
class CopyBaseline final : public Baseline {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Baseline>> begin(double bytes, const BaselineParts& parts) {
    const Rotation rotation = parts.buffers.rotation();
    auto memory = DeviceBuffer::allocate(copied_bytes(bytes, static_cast<std::int64_t>(rotation.copies)));
    if (!memory) return tl::unexpected(to_error(memory.error()));
    return std::unique_ptr<Baseline>(
        new CopyBaseline(bytes, std::move(*memory), rotation, parts.device.gpu.stream.get()));
  }

  [[nodiscard]] Result<void> find(const BaselineParts& parts) override {
    int rank = 0;
    for (const auto& [copy, name] : kWays) {
      const auto why_not = add(launch_of(parts, copy), {rank++, name, 0, 0, 0}, name, nullptr, *parts.device.timer);
      if (!why_not) return tl::unexpected(to_error(why_not.error()));
      if (!why_not->empty()) return fail(ErrorKind::kInternal, fmt::format("copying memory: {}", *why_not));
    }
    finish(std::string(kCopyBaseline), parts.buffers.data().seed);
    return {};
  }

  /// Nothing is timed.
  [[nodiscard]] Result<void> take_over(const BaselineParts& parts, const protocol::KnownBaseline& known) override {
    return restore(known, [&](const std::string& opaque) { return launchable(parts, opaque); });
  }

 protected:
  [[nodiscard]] Result<std::unique_ptr<Launchable>> launchable(const BaselineParts& parts,
                                                               const std::string& opaque) override {
    const auto* const way =
        std::find_if(kWays.begin(), kWays.end(), [&](const auto& one) { return one.second == opaque; });
    if (way == kWays.end()) return unreadable();
    return launch_of(parts, way->first);
  }

 private:
  CopyBaseline(double bytes, DeviceBuffer memory, const Rotation& rotation, cudaStream_t stream)
      : Baseline(rotation, stream), half_bytes_(half_of(bytes)), memory_(std::move(memory)) {}
  [[nodiscard]] std::unique_ptr<Launchable> launch_of(const BaselineParts& parts, HelperKernels::Copy copy) const {
    return std::make_unique<CopyLaunch>(*parts.device.kernels, copy, memory_.address(), half_bytes_);
  }

  std::int64_t half_bytes_;
  DeviceBuffer memory_;
};

class NoBaseline final : public Baseline {
 public:
  NoBaseline(const OperandBuffers& buffers, cudaStream_t stream) : Baseline(buffers.rotation(), stream) {
    finish({}, buffers.data().seed);
  }
  [[nodiscard]] Result<void> find(const BaselineParts& /*parts*/) override { return {}; }

 protected:
  [[nodiscard]] Result<std::unique_ptr<Launchable>> launchable(const BaselineParts& /*parts*/,
                                                               const std::string& /*opaque*/) override {
    return unreadable();
  }
};

/// A variant of another template: a plain kernel for operations that no library computes. Its one algorithm is checked
/// like its opponents.
class VariantBaseline final : public Baseline {
 public:
  VariantBaseline(protocol::BaselineBuild build, const BaselineParts& parts)
      : Baseline(parts.buffers.rotation(), parts.device.gpu.stream.get()), build_(std::move(build)) {}

  [[nodiscard]] Result<void> find(const BaselineParts& parts) override {
    TRY_ASSIGN(auto variant, loaded(parts));
    const std::string text = description();
    return add_only(std::move(variant), {0, text, 0, 0, 0}, text, parts).map([&] {
      finish(build_.title, parts.buffers.data().seed);
    });
  }

 protected:
  [[nodiscard]] Result<std::unique_ptr<Launchable>> launchable(const BaselineParts& parts,
                                                               const std::string& opaque) override {
    auto variant = loaded(parts);
    if (!variant) return variant;
    if (opaque != description()) return unreadable();
    return variant;
  }

 private:
  [[nodiscard]] Result<std::unique_ptr<Launchable>> loaded(const BaselineParts& parts) const {
    if (!build_.built)
      return fail(ErrorKind::kUsage, build_.unavailable.empty() ? "it was not built" : build_.unavailable);
    auto variant = parts.load(*build_.built);
    if (!variant) return tl::unexpected(to_error(variant.error()));
    return std::unique_ptr<Launchable>(std::move(*variant));
  }
  /// Identifies it among the variants of its template. Precondition: it was built.
  [[nodiscard]] std::string description() const {
    const Variant& variant = build_.built->variant;
    return variant.parameters.empty() ? "its only variant" : variant.key();
  }

  protocol::BaselineBuild build_;
};

OtherBaseline beside(const BaselineReport& report) {
  const AlgorithmReport& best = report.algorithms.at(static_cast<std::size_t>(report.best));
  return {report.library, best.description, best.time_s};
}

/// The build of the operation's baseline at that index, which is a template.
protocol::BaselineBuild build_of(const std::vector<OperationBaseline>& baselines, std::size_t place,
                                 const BaselineParts& parts) {
  const auto before =
      std::count_if(baselines.begin(), baselines.begin() + static_cast<std::ptrdiff_t>(place),
                    [](const OperationBaseline& one) { return std::holds_alternative<TemplateBaseline>(one); });
  const auto index = static_cast<std::size_t>(before);
  if (index < parts.builds.size()) return parts.builds[index];
  return {std::get<TemplateBaseline>(baselines[place]).selector, {}, {}};
}

/// A baseline without its algorithms, or the name to report if it is not available.
struct Begun {
  std::string title;
  Result<std::unique_ptr<Baseline>> baseline;
};

Begun begin_baseline(const std::vector<OperationBaseline>& baselines, std::size_t place, const BaselineParts& parts) {
  if (const auto* const product = std::get_if<LibraryProduct>(&baselines[place])) {
    if (product->library == BaselineLibrary::kCublas) return {cublas_title(), GroupedBaseline::begin(*product, parts)};
    return {parts.device.library(), ProductBaseline::begin(*product, parts)};
  }
  protocol::BaselineBuild build = build_of(baselines, place, parts);
  const std::string title = build.title;
  return {title, std::make_unique<VariantBaseline>(std::move(build), parts)};
}

Result<std::unique_ptr<Baseline>> with_algorithms(Result<std::unique_ptr<Baseline>> begun, const BaselineParts& parts,
                                                  const std::optional<protocol::KnownBaseline>& known) {
  if (!begun) return begun;
  TRY(known ? (*begun)->take_over(parts, *known) : (*begun)->find(parts));
  return begun;
}

Result<std::unique_ptr<Baseline>> make_gemm_baseline(const Problem& problem, BaselineParts parts,
                                                     const std::optional<protocol::KnownBaseline>& known) {
  if (!problem.operation->lesser) return with_algorithms(CublasLtBaseline::begin(problem, parts), parts, known);
  // The library cannot compute all of it, so it is checked against the part that it computes.
  const MeasuringGpu& device = parts.device;
  TRY_ASSIGN(const auto lesser, OperationKernels::create(device.gpu.driver, *device.kernels,
                                                         OperationHandle(problem.operation->with_lesser_result()),
                                                         device.info.architecture));
  const auto checker = Checker::create(*device.kernels, parts.buffers, *lesser, device.gpu.stream.get());
  if (!checker) return tl::unexpected(to_error(checker.error()));
  const BaselineParts checked{device, parts.buffers, **checker, parts.builds, std::move(parts.load)};
  return with_algorithms(CublasLtBaseline::begin(problem, checked), checked, known);
}

}  // namespace

Result<std::unique_ptr<Baseline>> make_baseline(const Problem& problem, const BaselineParts& parts,
                                                const std::optional<protocol::KnownBaseline>& known) {
  if (problem.operation->gemm_baseline() != nullptr) return make_gemm_baseline(problem, parts, known);
  const std::vector<OperationBaseline>& baselines = problem.operation->baselines;
  if (known) {
    const auto place = static_cast<std::size_t>(known->report.place);
    return with_algorithms(place < baselines.size() ? begin_baseline(baselines, place, parts).baseline
                                                    : CopyBaseline::begin(problem.traffic_bytes(), parts),
                           parts, known);
  }
  auto copy = with_algorithms(CopyBaseline::begin(problem.traffic_bytes(), parts), parts, known);
  if (!copy) return copy;
  std::unique_ptr<Baseline> chosen;
  std::size_t chosen_place = baselines.size();
  std::vector<OtherBaseline> others;
  for (std::size_t place = 0; place < baselines.size(); ++place) {
    Begun begun = begin_baseline(baselines, place, parts);
    auto made = with_algorithms(std::move(begun.baseline), parts, known);
    // Wait here, so that a failed baseline's error is not attributed to later work.
    if (auto ok = check(cudaStreamSynchronize(parts.device.gpu.stream.get()), "comparing with " + begun.title); !ok)
      return tl::unexpected(to_error(ok.error()));
    if (!made) {
      others.push_back({begun.title, {}, 0, made.error().text()});
    } else if (chosen == nullptr) {
      chosen = std::move(*made);
      chosen_place = place;
    } else {
      others.push_back(beside((*made)->report()));
    }
  }
  if (const auto& library = load_cublaslt(); library && has_groups_of_cublaslt(baselines))
    others.push_back(unused_grouped_layouts(*library, parts.device.library()));
  if (chosen == nullptr) {
    chosen = std::move(*copy);
  } else {
    others.push_back(beside((*copy)->report()));
  }
  chosen->stand_beside(static_cast<int>(chosen_place), std::move(others));
  return chosen;
}

std::unique_ptr<Baseline> make_no_baseline(const OperandBuffers& buffers, cudaStream_t stream) {
  return std::make_unique<NoBaseline>(buffers, stream);
}

MemoryNeed baseline_memory(const Problem& problem) {
  if (problem.operation->gemm_baseline() != nullptr) {
    MemoryNeed memory = CublasLtBaseline::memory(problem);
    if (problem.operation->lesser) memory.once += Checker::memory_bytes(*problem.operation);
    return memory;
  }
  MemoryNeed memory{copied_bytes(problem.traffic_bytes(), 1), 0};
  for (const OperationBaseline& baseline : problem.operation->baselines) {
    const auto* const product = std::get_if<LibraryProduct>(&baseline);
    if (product == nullptr) continue;
    const bool grouped = product->library == BaselineLibrary::kCublas;
    memory.copy += (grouped ? GroupedBaseline::copy_bytes : ProductBaseline::copy_bytes)(*product, *problem.operation);
    memory.once += grouped ? GroupedBaseline::kFixedBytes : ProductBaseline::kFixedBytes;
  }
  return memory;
}

bool has_groups_of_cublaslt(const std::vector<OperationBaseline>& baselines) {
  return std::any_of(baselines.begin(), baselines.end(), [](const OperationBaseline& one) {
    const auto* const product = std::get_if<LibraryProduct>(&one);
    return product != nullptr && product->library == BaselineLibrary::kCublasLt && (product->offsets || product->rows);
  });
}

OtherBaseline unused_grouped_layouts(const OpenedLibrary& library, const std::string& title) {
  const bool there = ::dlsym(library.handle, kGroupedLayouts) != nullptr;
  return {fmt::format("a grouped layout of {}", title), "", 0,
          there ? fmt::format("{} has {}, but pgtune cannot use it yet and gives cuBLASLt the groups one by one",
                              library.path.string(), kGroupedLayouts)
                : fmt::format("{} has no {}, which came with cuBLAS 13.2, for compute capability 9.0 with 13.4",
                              library.path.string(), kGroupedLayouts)};
}

}  // namespace pgtune::gpu
