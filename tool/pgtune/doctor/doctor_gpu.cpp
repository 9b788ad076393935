// SPDX-License-Identifier: MIT
#include "tool/pgtune/doctor/doctor_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tuner/device/worker_client.hpp"
#include "tuner/model/gpu_process.hpp"
#include "tuner/util/child_process.hpp"
#include "tuner/util/fields_json.hpp"

namespace pgtune::tool {
namespace {

using nlohmann::json;

/// The worker opens a GPU, compiles and watches the energy counter for a second.
constexpr std::chrono::seconds kDoctorPatience{120};
constexpr std::size_t kMaxFactsBytes = 1U << 20U;
/// An energy window of fewer steps is refused: its error would be a step at either end.
constexpr int kStepsPerWindow = 50;
constexpr const char* kDriverRemedy =
    "install one that supports CUDA 12.8 or newer; without it a search prints recorded answers";

Check driver_check(const json& facts) {
  const json& driver = facts.at("driver");
  const auto cuda = driver.at("cuda").get<std::string>(), version = driver.at("version").get<std::string>();
  if (!cuda.empty()) return {"driver", CheckState::kOk, fmt::format("{}, up to CUDA {}", version, cuda), ""};
  return failed_check("driver", CheckState::kMissing,
                      facts.value("problem", fmt::format("no NVIDIA driver on this machine; {}", kDriverRemedy)));
}

Check gpu_check(const json& facts) {
  if (facts.at("driver").at("cuda").get<std::string>().empty())
    return {"GPU", CheckState::kMissing, "none can be seen without a driver", "see to the driver first"};
  if (facts.contains("problem"))
    return failed_check("GPU", CheckState::kMissing, facts.at("problem").get<std::string>());
  if (facts.contains("gpu_problem"))
    return failed_check("GPU", CheckState::kMissing, facts.at("gpu_problem").get<std::string>());
  const auto ordinal = facts.at("gpu").get<std::size_t>();
  const json& gpu = facts.at("gpus").at(ordinal);
  return {"GPU", CheckState::kOk,
          fmt::format("{}, {}, number {} of {}", gpu.at("name").get<std::string>(),
                      gpu.at("architecture").get<std::string>(), ordinal, facts.at("gpus").size()),
          ""};
}

Check headers_check(const json& nvrtc) {
  if (nvrtc.contains("headers")) return {"CUDA headers", CheckState::kOk, nvrtc.at("headers").get<std::string>(), ""};
  return {"CUDA headers", CheckState::kNote, "not found: templates that include them do not compile",
          "install the CUDA Toolkit's headers, or set CUDA_HOME to a toolkit"};
}

/// A library that has a version, or a problem.
Check library_check(const std::string& name, const json& library) {
  if (library.contains("problem"))
    return failed_check(name, CheckState::kMissing, library.at("problem").get<std::string>());
  return {name, CheckState::kOk,
          fmt::format("{}, {} ({})", library.at("version").get<std::string>(), library.at("path").get<std::string>(),
                      library.at("place").get<std::string>()),
          ""};
}

/// The order of the search for NVRTC and cuBLASLt, with inapplicable places in brackets.
Check places_check(const json& places) {
  std::vector<std::string> names;
  for (const json& place : places) {
    const auto name = place.at("name").get<std::string>();
    const bool applies = !place.at("folders").empty() || name == "dynamic loader";
    names.push_back(applies ? name : fmt::format("({})", name));
  }
  return {"library order", CheckState::kOk, fmt::format("{}", fmt::join(names, ", ")), ""};
}

Check fields_check(const json& nvml) {
  std::vector<std::string> there, lacking;
  for (const auto& [field, supported] : nvml.at("fields").items())
    (supported.get<bool>() ? there : lacking).push_back(field);
  if (lacking.empty()) return {"NVML", CheckState::kOk, fmt::format("{}", fmt::join(there, ", ")), ""};
  return {"NVML", CheckState::kNote, fmt::format("this GPU or driver does not say: {}", fmt::join(lacking, ", ")),
          "results lack these columns; a newer driver may have them"};
}

Check energy_check(const json& nvml) {
  if (nvml.contains("energy_step_s")) {
    const auto step_s = nvml.at("energy_step_s").get<double>();
    return {"energy counter", CheckState::kOk,
            fmt::format("moves every {:.0f} ms: windows of {:.1f} s or more", step_s * 1e3, step_s * kStepsPerWindow),
            ""};
  }
  const bool readable = nvml.at("fields").value("energy counter", false);
  return {"energy counter", CheckState::kNote, readable ? "did not move within a second" : "this GPU has none",
          "measure energy on another GPU; times are not affected"};
}

std::vector<Check> lock_checks(const json& facts, const std::string& uuid) {
  const json& nvml = facts.at("nvml");
  if (nvml.contains("lock_problem"))
    return {failed_check("lock clocks", CheckState::kNote, nvml.at("lock_problem").get<std::string>())};
  const auto mhz = nvml.at("lock_mhz").get<int>();
  std::string range;
  if (nvml.contains("clocks_mhz"))
    range =
        fmt::format("{} to {} MHz, ", nvml.at("clocks_mhz").at(0).get<int>(), nvml.at("clocks_mhz").at(1).get<int>());
  if (facts.at("administrator").get<bool>())
    return {{"lock clocks", CheckState::kOk,
             fmt::format("you are root: search --lock-clocks[=MHZ], {}{} by default", range, mhz), ""}};
  return {{"lock clocks", CheckState::kNote, fmt::format("only root may: {}{} by default", range, mhz),
           fmt::format("run pgtune as root, or have an administrator run sudo nvidia-smi -i {} -lgc {},{}", uuid, mhz,
                       mhz)}};
}

Check processes_check(const json& nvml) {
  std::vector<std::string> processes;
  for (const json& process : nvml.at("processes")) processes.push_back(process.get<GpuProcess>().text());
  if (processes.empty()) return {"other processes", CheckState::kOk, "none seen on this GPU", ""};
  return {"other processes", CheckState::kNote, fmt::format("on this GPU: {}", fmt::join(processes, ", ")),
          "measure while the GPU is yours alone"};
}

std::vector<Check> nvml_checks(const json& facts, const std::string& uuid) {
  const json& nvml = facts.at("nvml");
  if (nvml.contains("problem"))
    return {{"NVML", CheckState::kNote, nvml.at("problem").get<std::string>(),
             "times are not affected; for power, energy and locked clocks install the driver's libnvidia-ml.so.1"}};
  std::vector<Check> checks{fields_check(nvml), energy_check(nvml)};
  for (Check& check : lock_checks(facts, uuid)) checks.push_back(std::move(check));
  checks.push_back(processes_check(nvml));
  return checks;
}

std::vector<Check> timer_checks(const json& timers) {
  if (timers.contains("problem"))
    return {failed_check("timers", CheckState::kMissing, timers.at("problem").get<std::string>())};
  return {
      {"event floor", CheckState::kOk,
       fmt::format("{:.1f} us between two events with nothing between", timers.at("event_floor_s").get<double>() * 1e6),
       ""},
      {"globaltimer", CheckState::kOk,
       fmt::format("steps of {:.0f} ns", timers.at("globaltimer_step_s").get<double>() * 1e9), ""}};
}

}  // namespace

Result<json> ask_worker(const std::string& worker_path, const std::string& gpu) {
  TRY(device::check_worker_program(worker_path));
  TRY_ASSIGN(auto child, ChildProcess::start({worker_path, "--role", "doctor", "--gpu", gpu}, kMaxFactsBytes));
  TRY_ASSIGN(const auto line, wait_for_line(*child, worker_path, kDoctorPatience));
  json facts = json::parse(line, nullptr, false);
  if (facts.is_object()) return facts;
  return fail(ErrorKind::kEnvironment,
              fmt::format("{} gave an answer that is not understood; is it of this version of pgtune?", worker_path));
}

std::vector<Check> gpu_checks(const json& facts) {
  std::vector<Check> checks{driver_check(facts),
                            gpu_check(facts),
                            headers_check(facts.at("nvrtc")),
                            library_check("NVRTC", facts.at("nvrtc")),
                            library_check("cuBLASLt", facts.at("cublaslt")),
                            places_check(facts.at("library_places"))};
  if (!facts.contains("gpu")) return checks;
  const auto uuid = facts.at("gpus").at(facts.at("gpu").get<std::size_t>()).at("uuid").get<std::string>();
  for (Check& check : nvml_checks(facts, uuid)) checks.push_back(std::move(check));
  for (Check& check : timer_checks(facts.at("timers"))) checks.push_back(std::move(check));
  return checks;
}

std::vector<Check> checks_without_worker(const Error& problem, const std::string& driver_folder) {
  std::error_code ignored;
  const bool driver = std::filesystem::exists(driver_folder, ignored);
  return {failed_check("worker", CheckState::kMissing, problem.text()),
          driver
              ? Check{"driver", CheckState::kOk, fmt::format("loaded ({})", driver_folder), ""}
              : Check{"driver", CheckState::kMissing, fmt::format("none loaded (no {})", driver_folder), kDriverRemedy},
          {"GPU, CUDA, NVML", CheckState::kNote, "not checked: that takes the worker",
           "see to the worker first, then run 'pgtune doctor' again"}};
}

}  // namespace pgtune::tool
