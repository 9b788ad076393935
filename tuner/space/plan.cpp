// SPDX-License-Identifier: MIT
#include "tuner/space/plan.hpp"

#include <fmt/format.h>

#include <limits>
#include <string_view>

#include "tuner/space/variant_scope.hpp"

namespace pgtune::space {
namespace {

constexpr std::int64_t kMaxBlockThreads = 1024;
constexpr Dim3 kMaxBlock{1024, 1024, 64};
constexpr Dim3 kMaxGrid{2147483647, 65535, 65535};
constexpr std::int64_t kMaxCluster = 8;
constexpr int kFirstArchWithClustersAndTma = 90;

constexpr std::int64_t kMaxTensorDimension = std::int64_t{1} << 32;
constexpr std::int64_t kMaxTensorStrideBytes = (std::int64_t{1} << 40) - 1;
constexpr std::int64_t kMaxBoxElements = 256;
constexpr std::int64_t kTmaAlignmentBytes = 16;

tl::unexpected<Error> refuse(std::string message) { return fail(ErrorKind::kUsage, std::move(message)); }

Result<void> check_dimensions(std::string_view field, const Dim3& value, const Dim3& most) {
  const auto check = [&](char axis, std::int64_t size, std::int64_t limit) -> Result<void> {
    if (size >= 1 && size <= limit) return {};
    return refuse(fmt::format("{}.{} is {}, but must be between 1 and {}", field, axis, size, limit));
  };
  if (auto checked = check('x', value.x, most.x); !checked) return checked;
  if (auto checked = check('y', value.y, most.y); !checked) return checked;
  return check('z', value.z, most.z);
}

Result<void> check_cluster(const KernelLaunch& launch, const DeviceInfo& device) {
  const Dim3 most{kMaxCluster, kMaxCluster, kMaxCluster};
  if (auto checked = check_dimensions("cluster", launch.cluster, most); !checked) return checked;
  const std::int64_t ctas = launch.cluster.count();
  if (ctas == 1) return {};
  if (ctas > kMaxCluster) {
    return refuse(fmt::format("cluster has {} CTAs, but at most {} are portable", ctas, kMaxCluster));
  }
  if (device.arch_number() < kFirstArchWithClustersAndTma) {
    return refuse(fmt::format("clusters need sm_90 or newer, the device is {}; add a legality rule on ARCH",
                              device.architecture));
  }
  if (launch.grid.x % launch.cluster.x != 0 || launch.grid.y % launch.cluster.y != 0 ||
      launch.grid.z % launch.cluster.z != 0) {
    return refuse(fmt::format("grid {}x{}x{} is not a multiple of cluster {}x{}x{}; round the grid up", launch.grid.x,
                              launch.grid.y, launch.grid.z, launch.cluster.x, launch.cluster.y, launch.cluster.z));
  }
  return {};
}

/// Bytes that one row of the box may have under a swizzle; 0: any number.
std::int64_t swizzle_span_bytes(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::k32B:
      return 32;
    case Swizzle::k64B:
      return 64;
    case Swizzle::k128B:
      return 128;
    case Swizzle::kNone:
      break;
  }
  return 0;
}

Result<void> check_box(const TensorMapPlan& map) {
  for (std::size_t i = 0; i < map.box.size(); ++i) {
    if (map.box[i] >= 1 && map.box[i] <= kMaxBoxElements) continue;
    return refuse(fmt::format("box[{}] is {}, but TMA takes 1 to {} elements", i, map.box[i], kMaxBoxElements));
  }
  const std::int64_t row_bytes = map.box[0] * element_bytes(map.type);
  if (row_bytes % kTmaAlignmentBytes != 0) {
    return refuse(fmt::format("box[0] is {} bytes, but TMA needs a multiple of {}", row_bytes, kTmaAlignmentBytes));
  }
  const std::int64_t span = swizzle_span_bytes(map.swizzle);
  if (span > 0 && row_bytes > span) {
    return refuse(
        fmt::format("box[0] is {} bytes, but swizzle {} takes at most {}", row_bytes, to_string(map.swizzle), span));
  }
  return {};
}

/// Errors (usage) name the field and the limit. Source of the limits: CUDA C++ Programming Guide, technical
/// specifications per compute capability; clusters up to the portable size of 8.
Result<void> check_launch_limits(const KernelLaunch& launch, const DeviceInfo& device) {
  if (auto checked = check_dimensions("grid", launch.grid, kMaxGrid); !checked) return checked;
  if (auto checked = check_dimensions("block", launch.block, kMaxBlock); !checked) return checked;
  if (launch.block.count() > kMaxBlockThreads) {
    return refuse(fmt::format("block {}x{}x{} has {} threads, but a CTA holds at most {}", launch.block.x,
                              launch.block.y, launch.block.z, launch.block.count(), kMaxBlockThreads));
  }
  if (auto checked = check_cluster(launch, device); !checked) return checked;
  if ((launch.overlaps_previous || launch.waits_first) && device.arch_number() < kFirstArchWithClustersAndTma) {
    return refuse(
        fmt::format("programmatic dependent launch needs sm_90 or newer, the device is {}; make it an "
                    "expression of ARCH",
                    device.architecture));
  }
  if (launch.dynamic_smem_bytes < 0 || launch.dynamic_smem_bytes > device.smem_per_block_bytes) {
    return refuse(fmt::format("dynamic_smem is {} bytes, but a CTA of this device has 0 to {}",
                              launch.dynamic_smem_bytes, device.smem_per_block_bytes));
  }
  return {};
}

/// Source of the limits: CUDA Driver API, cuTensorMapEncodeTiled without interleaving.
Result<void> check_tensor_map_limits(const TensorMapPlan& map, const DeviceInfo& device) {
  if (device.arch_number() < kFirstArchWithClustersAndTma) {
    return refuse(fmt::format("tensor maps need sm_90 or newer, the device is {}; add a legality rule on ARCH",
                              device.architecture));
  }
  for (std::size_t i = 0; i < map.dims.size(); ++i) {
    if (map.dims[i] >= 1 && map.dims[i] <= kMaxTensorDimension) continue;
    return refuse(fmt::format("dims[{}] is {}, but TMA takes 1 to {}", i, map.dims[i], kMaxTensorDimension));
  }
  for (std::size_t i = 0; i < map.strides_bytes.size(); ++i) {
    const std::int64_t stride = map.strides_bytes[i];
    if (stride < 1 || stride > kMaxTensorStrideBytes) {
      return refuse(fmt::format("strides[{}] is {} bytes, but TMA takes 1 to {}", i, stride, kMaxTensorStrideBytes));
    }
    if (stride % kTmaAlignmentBytes != 0) {
      return refuse(
          fmt::format("strides[{}] is {} bytes, but TMA needs a multiple of {}; add a legality rule on ALIGN_A, "
                      "ALIGN_B or ALIGN_C",
                      i, stride, kTmaAlignmentBytes));
    }
  }
  return check_box(map);
}

/// Evaluates expressions and keeps the first error, with its field.
class PlanBuilder {
 public:
  PlanBuilder(const TemplateDefinition& definition, const Problem& problem, const DeviceInfo& device,
              const VariantScope& scope)
      : definition_(definition), problem_(problem), device_(device), scope_(scope) {}

  Result<LaunchPlan> build() {
    if (definition_.workspace_bytes) {
      plan_.workspace_bytes = number(*definition_.workspace_bytes, "workspace.bytes");
      if (plan_.workspace_bytes < 0)
        refuse("workspace.bytes", fmt::format("is {}, but must not be negative", plan_.workspace_bytes));
      plan_.zero_workspace = definition_.zero_workspace;
    }
    // A map may be impossible for variants whose kernels do not use it, so only maps that are passed count.
    for (const KernelSpec& kernel : definition_.kernels) add_kernel(kernel);
    if (!error_ && plan_.kernels.empty()) refuse("kernels", "no kernel is launched: every \"when\" is zero");
    if (error_) return tl::unexpected<Error>(std::move(*error_));
    return std::move(plan_);
  }

 private:
  void refuse(const std::string& field, std::string message) {
    if (!error_) error_ = Error{ErrorKind::kUsage, std::move(message), {field}};
  }

  void check(const Result<void>& checked, const std::string& field) {
    if (!checked && !error_) error_ = fail(checked.error(), field).value();
  }

  std::int64_t number(const Expression& expression, const std::string& field) {
    if (error_) return 0;
    auto value = expression.evaluate(scope_);
    if (value) return *value;
    error_ = fail(std::move(value.error()), field).value();
    return 0;
  }

  std::vector<std::int64_t> numbers(const std::vector<Expression>& expressions, const std::string& field) {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      out.push_back(number(expressions[i], fmt::format("{}[{}]", field, i)));
    }
    return out;
  }

  Dim3 dimensions(const std::vector<Expression>& expressions, const std::string& field) {
    std::vector<std::int64_t> values = numbers(expressions, field);
    values.resize(3, 1);
    return {values[0], values[1], values[2]};
  }

  void add_kernel(const KernelSpec& spec) {
    const std::string field = fmt::format("kernel '{}'", spec.symbol);
    if (spec.when && number(*spec.when, field + ".when") == 0) return;
    KernelLaunch launch;
    launch.symbol = spec.symbol;
    launch.grid = dimensions(spec.grid, field + ".grid");
    launch.block = dimensions(spec.block, field + ".block");
    launch.cluster = dimensions(spec.cluster, field + ".cluster");
    if (spec.dynamic_smem_bytes) launch.dynamic_smem_bytes = number(*spec.dynamic_smem_bytes, field + ".dynamic_smem");
    const bool first = plan_.kernels.empty();
    if (!first && spec.programmatic_dependent_launch) {
      launch.overlaps_previous =
          number(*spec.programmatic_dependent_launch, field + ".programmatic_dependent_launch") != 0;
    }
    if (first && problem_.chained && spec.overlaps_launch_before)
      launch.overlaps_previous = number(*spec.overlaps_launch_before, field + ".overlaps_launch_before") != 0;
    if (spec.waits_first) launch.waits_first = number(*spec.waits_first, field + ".waits_first") != 0;
    for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
      launch.arguments.push_back(argument(spec.arguments[i], fmt::format("{}.arguments[{}]", field, i)));
    }
    if (spec.co_resident) launch.co_resident = number(*spec.co_resident, field + ".co_resident") != 0;
    launch.l2_window = spec.l2_window;
    if (error_) return;
    check(check_launch_limits(launch, device_), field);
    plan_.kernels.push_back(std::move(launch));
  }

  KernelArgument argument(const ArgumentSpec& spec, const std::string& field) {
    KernelArgument out;
    out.kind = spec.kind;
    switch (spec.kind) {
      case ArgumentKind::kPointer:
        out.operand = spec.operand;
        break;
      case ArgumentKind::kTensorMap:
        out.integer = tensor_map(spec.tensor_map);
        break;
      case ArgumentKind::kInt32:
      case ArgumentKind::kInt64:
        out.integer = number(*spec.expression, field);
        if (spec.kind == ArgumentKind::kInt32 && (out.integer > std::numeric_limits<std::int32_t>::max() ||
                                                  out.integer < std::numeric_limits<std::int32_t>::min())) {
          refuse(field, fmt::format("'{}' is {}, which does not fit in int32; pass it as int64",
                                    spec.expression->text(), out.integer));
        }
        break;
      case ArgumentKind::kFloat32:
        out.real = problem_.scalar(spec.scalar);
        break;
    }
    return out;
  }

  /// Index of the map in the plan; the map is added when it is first passed.
  std::int64_t tensor_map(const std::string& name) {
    for (std::size_t i = 0; i < plan_.tensor_maps.size(); ++i) {
      if (plan_.tensor_maps[i].name == name) return static_cast<std::int64_t>(i);
    }
    const std::string field = fmt::format("tensor map '{}'", name);
    for (const TensorMapSpec& spec : definition_.tensor_maps) {
      if (spec.name != name || (spec.when && number(*spec.when, field + ".when") == 0)) continue;
      plan_.tensor_maps.push_back(evaluate_map(spec));
      return static_cast<std::int64_t>(plan_.tensor_maps.size()) - 1;
    }
    refuse(field, "there is none: every \"when\" is zero");
    return 0;
  }

  /// A choice that is given in bytes: "none" for 0, otherwise a word such as "128B".
  template <typename Word>
  Word word_of_bytes(const Expression& expression, const std::string& field) {
    const std::int64_t bytes = number(expression, field);
    const std::optional<Word> word = enumerator_of<Word>(bytes == 0 ? "none" : fmt::format("{}B", bytes));
    if (!word && !error_)
      refuse(field, fmt::format("'{}' is {} bytes, which TMA does not offer", expression.text(), bytes));
    return word.value_or(Word{});
  }

  /// TMA's name for an operand's type in memory.
  [[nodiscard]] TensorType stored_type(Operand operand) const {
    if (operand == Operand::kWorkspace) return TensorType::kFloat32;
    return traits(problem_.type_of(operand)).tensor_type;
  }

  TensorMapPlan evaluate_map(const TensorMapSpec& spec) {
    const std::string field = fmt::format("tensor map '{}'", spec.name);
    TensorMapPlan map;
    map.name = spec.name;
    map.operand = spec.operand;
    map.type = spec.type.value_or(stored_type(spec.operand));
    map.dims = numbers(spec.dims, field + ".dims");
    map.box = numbers(spec.box, field + ".box");
    map.swizzle = spec.swizzle_bytes ? word_of_bytes<Swizzle>(*spec.swizzle_bytes, field + ".swizzle") : spec.swizzle;
    map.l2_promotion = spec.l2_promotion_bytes
                           ? word_of_bytes<L2Promotion>(*spec.l2_promotion_bytes, field + ".l2_promotion")
                           : spec.l2_promotion;
    for (const std::int64_t elements : numbers(spec.strides, field + ".strides")) {
      std::int64_t bytes = 0;
      if (__builtin_mul_overflow(elements, element_bytes(map.type), &bytes)) {
        refuse(field + ".strides", "a stride in bytes does not fit in 64 bits");
      }
      map.strides_bytes.push_back(bytes);
    }
    if (!error_) check(check_tensor_map_limits(map, device_), field);
    return map;
  }

  const TemplateDefinition& definition_;
  const Problem& problem_;
  const DeviceInfo& device_;
  const VariantScope& scope_;
  LaunchPlan plan_;
  std::optional<Error> error_;
};

}  // namespace

Result<LaunchPlan> make_launch_plan(const TemplateDefinition& definition, const Variant& variant,
                                    const Problem& problem, const DeviceInfo& device) {
  const auto scope = VariantScope::create(definition, variant, problem, device);
  if (!scope) return fail(scope.error(), fmt::format("template '{}'", definition.name));
  auto plan = PlanBuilder(definition, problem, device, *scope).build();
  if (!plan) {
    auto error = std::move(plan.error());
    error.message += fmt::format("\n  with {}", variant.key());
    return fail(std::move(error), fmt::format("template '{}'", definition.name));
  }
  return plan;
}

}  // namespace pgtune::space
