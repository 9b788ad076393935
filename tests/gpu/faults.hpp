// SPDX-License-Identifier: MIT
// The faults of tests/templates/faults/faulty.json and what has to become of each, for the tests of both halves: what
// shows without a GPU, and what only a GPU can show.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "tests/gpu/test_folder.hpp"
#include "tuner/device/worker_device.hpp"
#include "tuner/model/outcome.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::gpu {

/// Where a fault shows first.
enum class Shows {
  kPlan,      ///< in the launch plan, before anything is compiled
  kBuild,     ///< when it is compiled
  kBuilt,     ///< in the resources of the build
  kLaunch,    ///< on the GPU, whose context survives it
  kSticky,    ///< on the GPU, which takes the worker with it
  kVerified,  ///< on the GPU, not before a finalist is verified
};

struct Fault {
  std::string_view name;
  Shows shows;
  OutcomeKind kind;
  std::string_view words;  ///< inside the reason
};

inline constexpr std::array kFaults{
    Fault{"illegal_address", Shows::kSticky, OutcomeKind::kCrashed, "cudaErrorIllegalAddress"},
    Fault{"misaligned_access", Shows::kSticky, OutcomeKind::kCrashed, "cudaErrorMisalignedAddress"},
    Fault{"infinite_loop", Shows::kSticky, OutcomeKind::kTimeout, "has not ended after"},
    Fault{"deadlocked_barrier", Shows::kSticky, OutcomeKind::kTimeout, "has not ended after"},
    Fault{"deadlocked_mbarrier", Shows::kSticky, OutcomeKind::kTimeout, "has not ended after"},
    Fault{"trap", Shows::kSticky, OutcomeKind::kCrashed, "cudaError"},
    Fault{"device_assert", Shows::kSticky, OutcomeKind::kCrashed, "cudaErrorAssert"},
    Fault{"wrong_element", Shows::kLaunch, OutcomeKind::kWrongResult, "element (0,0)"},
    Fault{"nan_element", Shows::kLaunch, OutcomeKind::kWrongResult, "is nan"},
    Fault{"write_past_c", Shows::kLaunch, OutcomeKind::kWrongResult, "after D"},
    Fault{"write_a", Shows::kLaunch, OutcomeKind::kWrongResult, "changed A"},
    Fault{"read_out_of_bounds", Shows::kSticky, OutcomeKind::kCrashed, "cudaErrorIllegalAddress"},
    Fault{"stack_overflow", Shows::kSticky, OutcomeKind::kCrashed, "cudaError"},
    Fault{"too_much_static_smem", Shows::kBuild, OutcomeKind::kCompileFailed, "too much shared data"},
    Fault{"too_much_smem", Shows::kBuilt, OutcomeKind::kInvalid, "bytes of shared memory per block"},
    Fault{"too_much_dynamic_smem", Shows::kPlan, OutcomeKind::kInvalid, "dynamic_smem is"},
    Fault{"too_many_registers", Shows::kBuilt, OutcomeKind::kInvalid, "limited by registers"},
    Fault{"spills", Shows::kBuilt, OutcomeKind::kInvalid, "spills"},
    Fault{"illegal_geometry", Shows::kLaunch, OutcomeKind::kLaunchFailed, "launching faulty"},
    Fault{"oversized_block", Shows::kPlan, OutcomeKind::kInvalid, "2048"},
    Fault{"oversized_cluster", Shows::kPlan, OutcomeKind::kInvalid, "cluster"},
    Fault{"compile_error", Shows::kBuild, OutcomeKind::kCompileFailed, "this variant does not compile"},
    Fault{"assembler_error", Shows::kBuild, OutcomeKind::kCompileFailed, "no_such_instruction"},
    Fault{"endless_compile", Shows::kBuild, OutcomeKind::kTimeout, "gave no answer within"},
    Fault{"hungry_frontend", Shows::kBuild, OutcomeKind::kCompileFailed, "MiB of memory"},
    Fault{"hungry_optimizer", Shows::kBuild, OutcomeKind::kCompileFailed, "MiB of memory"},
    Fault{"write_1mb_past_d", Shows::kLaunch, OutcomeKind::kWrongResult, "after D"},
    Fault{"write_far_past_d", Shows::kSticky, OutcomeKind::kCrashed, "cudaErrorIllegalAddress"},
    Fault{"write_before_d", Shows::kSticky, OutcomeKind::kCrashed, "cudaErrorIllegalAddress"},
    Fault{"read_far_past_a", Shows::kSticky, OutcomeKind::kCrashed, "cudaErrorIllegalAddress"},
    Fault{"read_before_b", Shows::kSticky, OutcomeKind::kCrashed, "cudaErrorIllegalAddress"},
    Fault{"write_past_workspace", Shows::kLaunch, OutcomeKind::kWrongResult, "after the workspace"},
    Fault{"lost_update", Shows::kLaunch, OutcomeKind::kWrongResult, "element (0,0)"},
    Fault{"wrong_once_in_50", Shows::kVerified, OutcomeKind::kWrongResult, "verified after the final"},
    Fault{"skips_when_done", Shows::kVerified, OutcomeKind::kWrongResult, "where D still holds its result"},
    Fault{"adds_to_result", Shows::kVerified, OutcomeKind::kWrongResult, "over an earlier result"},
    Fault{"first_result_again", Shows::kVerified, OutcomeKind::kWrongResult, "with other data"},
    Fault{"skips_third_d", Shows::kVerified, OutcomeKind::kWrongResult, "was not written"},
    Fault{"stale_workspace", Shows::kVerified, OutcomeKind::kWrongResult, "with other data"},
};

[[nodiscard]] inline std::filesystem::path faulty_template_path() {
  return std::filesystem::path(PGTUNE_SOURCE_DIR) / "tests/templates/faults/faulty.json";
}

[[nodiscard]] inline Result<space::TemplateDefinition> load_faulty_template() {
  return space::load_template(faulty_template_path(), [](const std::string& name) -> Result<std::string> {
    return fail(ErrorKind::kUsage, "the template includes nothing, not " + name);
  });
}

/// The real worker on the first GPU, which compiles into `folder`.
[[nodiscard]] inline Result<std::unique_ptr<device::WorkerDevice>> open_worker(
    const TestFolder& folder, device::WorkerDevice::Options options = {}) {
  options.worker_path = PGTUNE_WORKER_PATH;
  options.compile = std::make_shared<device::CompileService>(
      device::CompilePool::Options{.worker_path = PGTUNE_WORKER_PATH, .cache_dir = folder.path().string()});
  return device::WorkerDevice::open(options);
}

[[nodiscard]] inline Variant faulty_variant(std::string_view fault, std::int64_t rows = 4) {
  return {"faulty", {{"FAULT", std::string(fault)}, {"ROWS", rows}}};
}

}  // namespace pgtune::gpu
