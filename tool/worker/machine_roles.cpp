// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tool/worker/roles.hpp"
#include "tuner/gpu/baseline/cublaslt_library.hpp"
#include "tuner/gpu/jit/nvrtc.hpp"
#include "tuner/gpu/libraries/cuda_library.hpp"
#include "tuner/gpu/measure/device_info.hpp"
#include "tuner/gpu/measure/measurer.hpp"
#include "tuner/gpu/nvml/clock_lock.hpp"
#include "tuner/gpu/nvml/nvml.hpp"
#include "tuner/model/json.hpp"

namespace pgtune::worker {
namespace {

using nlohmann::json;

/// Long enough for seven steps of the 100 ms of an H200's counter.
constexpr std::chrono::milliseconds kEnergyPatience{1000};

json problem(const Error& error) { return {{"problem", error.text()}}; }

json nvrtc_json() {
  const Result<gpu::Toolkit> toolkit = gpu::find_toolkit();
  if (!toolkit) return problem(toolkit.error());
  json nvrtc = {
      {"version", toolkit->nvrtc_version}, {"path", toolkit->nvrtc_path.string()}, {"place", toolkit->nvrtc_place}};
  if (!toolkit->include_folders.empty()) nvrtc["headers"] = toolkit->include_folders.front().string();
  if (const auto works = gpu::check_nvrtc(); !works) nvrtc.update(problem(works.error()));
  return nvrtc;
}

json cublaslt_json() {
  const Result<std::string> version = gpu::cublaslt_version();
  if (!version) return problem(version.error());
  const gpu::OpenedLibrary& library = *gpu::load_cublaslt();
  return {{"version", *version}, {"path", library.path.string()}, {"place", library.place}};
}

json places_json() {
  json places = json::array();
  for (const gpu::LibraryPlace& place : gpu::library_places()) {
    json folders = json::array();
    for (const auto& folder : place.folders) folders.push_back(folder.string());
    places.push_back({{"name", place.name}, {"folders", std::move(folders)}});
  }
  return places;
}

json lock_json(const gpu::NvmlDevice& device) {
  const gpu::ClockLock lock(device);
  json out;
  if (const std::vector<int> clocks = lock.supported_mhz(); !clocks.empty())
    out["clocks_mhz"] = {clocks.front(), clocks.back()};
  if (const Result<int> chosen = lock.choose(std::nullopt)) {
    out["lock_mhz"] = *chosen;
  } else {
    out["lock_problem"] = chosen.error().text();
  }
  return out;
}

json nvml_json(const Result<gpu::Nvml>& nvml, const std::string& uuid) {
  if (!nvml) return problem(nvml.error());
  const Result<gpu::NvmlDevice> device = nvml->device(uuid);
  if (!device) return problem(device.error());
  const gpu::ThrottleTimes throttled = device->throttle_times();
  json out = lock_json(*device);
  out["fields"] = {
      {"temperature", device->temperature_c().has_value()},       {"power-cap time", throttled.power_cap_s.has_value()},
      {"thermal time", throttled.thermal_s.has_value()},          {"energy counter", device->energy_j().has_value()},
      {"averaged power", device->averaged_power_w().has_value()}, {"SM clock", device->sm_clock_hz().has_value()}};
  if (const auto step_s = gpu::energy_step_s(*device, kEnergyPatience)) out["energy_step_s"] = *step_s;
  out["processes"] = json::array();
  for (const GpuProcess& process : device->compute_processes()) {
    if (process.pid != ::getpid()) out["processes"].push_back(process);
  }
  return out;
}

json timers_json(int ordinal) {
  const Result<gpu::TimerFacts> facts = gpu::check_timers(ordinal);
  if (!facts) return problem(facts.error());
  return {{"event_floor_s", facts->event_floor_s}, {"globaltimer_step_s", facts->globaltimer_step_s}};
}

/// What `describe` has of the GPU with that UUID, as a line.
template <typename Describe>
std::string line_of(const std::string& uuid, const Describe& describe) {
  const Result<gpu::NvmlDevice> device =
      gpu::Nvml::open().and_then([&](const gpu::Nvml& nvml) { return nvml.device(uuid); });
  const json line = device ? describe(*device) : json{{"problem", device.error().text()}};
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string list_gpus_line() {
  json line = {{"devices", json::array()}, {"nvrtc", gpu::find_toolkit().value_or(gpu::Toolkit()).nvrtc_version}};
  if (const Result<std::vector<DeviceInfo>> devices = gpu::list_gpus(); !devices) {
    line["problem"] = devices.error().text();
  } else if (devices->empty()) {
    line["problem"] = "the driver shows no GPU; check CUDA_VISIBLE_DEVICES and nvidia-smi";
  } else {
    line["devices"] = *devices;
    line["driver"] = devices->front().driver_version;
  }
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string limits_line(const std::string& uuid) {
  return line_of(uuid, [](const gpu::NvmlDevice& gpu) {
    return json{{"power_limit_w", gpu.power_limit_w()}, {"mig_mode", gpu.in_mig_mode()}};
  });
}

std::string processes_line(const std::string& uuid) {
  return line_of(uuid, [](const gpu::NvmlDevice& gpu) { return json{{"processes", gpu.compute_processes()}}; });
}

std::string doctor_line(const std::string& gpu) {
  json line = {{"administrator", ::geteuid() == 0},
               {"nvrtc", nvrtc_json()},
               {"cublaslt", cublaslt_json()},
               {"library_places", places_json()}};
  const Result<gpu::Nvml> nvml = gpu::Nvml::open();
  line["driver"] = {{"cuda", gpu::driver_cuda_version()}, {"version", nvml ? nvml->driver_version() : ""}};
  const Result<std::vector<DeviceInfo>> gpus = gpu::list_gpus();
  line["gpus"] = gpus.value_or(std::vector<DeviceInfo>());
  if (!gpus) {
    line["problem"] = gpus.error().text();
  } else if (const Result<int> ordinal = gpu::find_gpu(gpu); !ordinal) {
    line["gpu_problem"] = ordinal.error().text();
  } else {
    // NVML first: afterwards this process has a context of its own on the GPU.
    line["gpu"] = *ordinal;
    line["nvml"] = nvml_json(nvml, gpus->at(static_cast<std::size_t>(*ordinal)).uuid);
    line["timers"] = timers_json(*ordinal);
  }
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace pgtune::worker
