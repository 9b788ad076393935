// SPDX-License-Identifier: MIT
#include "tuner/gpu/nvml/nvml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

#include "tuner/gpu/nvml/nvml_library.hpp"
#include "tuner/util/middle.hpp"

namespace pgtune::gpu {
namespace {

constexpr unsigned kVersionBytes = 80, kNameBytes = 96;
constexpr std::size_t kUsualProcesses = 64;
constexpr int kTemperatureGpu = 0;
// Field ids: times in nanoseconds since the driver was loaded, power in milliwatts.
constexpr unsigned kFieldPowerCap = 74, kFieldThermal = 75, kFieldThermalSoftware = 269, kFieldThermalHardware = 270,
                   kFieldPowerBrake = 271, kFieldPowerAverage = 185;

/// The value that `function` writes for the device; nothing if the function is missing or fails.
template <typename Value, typename Function, typename... Arguments>
std::optional<Value> read(Function function, void* device, Arguments... arguments) {
  Value value{};
  if (function == nullptr || function(device, arguments..., &value) != kNvmlSuccess) return std::nullopt;
  return value;
}

std::optional<double> value_of(const NvmlFieldValue& field) {
  if (field.status != kNvmlSuccess) return std::nullopt;
  return static_cast<double>(field.value_type == kNvmlUnsigned32 ? field.value & 0xffffffffU : field.value);
}

template <std::size_t size>
std::array<NvmlFieldValue, size> read_fields(const NvmlLibrary& library, void* device,
                                             const std::array<unsigned, size>& ids) {
  std::array<NvmlFieldValue, size> fields{};
  for (std::size_t i = 0; i < size; ++i) {
    fields[i].field = ids[i];
    fields[i].status = kNvmlNotSupported;
  }
  if (library.field_values != nullptr) {
    static_cast<void>(library.field_values(device, static_cast<int>(size), fields.data()));
  }
  return fields;
}

/// The process's name from the kernel; empty if this system has no such process.
std::string name_of_process(unsigned pid) {
  std::string name;
  std::getline(std::ifstream(fmt::format("/proc/{}/comm", pid)), name);
  return name;
}

constexpr std::size_t kChanges = 6;
/// A reading takes some milliseconds itself; this keeps cheaper ones from occupying a core.
constexpr double kBetweenReadings_s = 500e-6;

}  // namespace

std::string mig_profile_in(std::string_view name) {
  constexpr std::string_view kMig = "MIG ";
  const std::size_t mark = name.find(kMig);
  if (mark == std::string_view::npos || (mark > 0 && name[mark - 1] != ' ')) return {};
  const std::string_view profile = name.substr(mark + kMig.size());
  return std::string(profile.substr(0, profile.find(' ')));
}

Result<Nvml> Nvml::open() {
  const char* const other = std::getenv("PGTUNE_NVML_LIBRARY");
  return open(other != nullptr && *other != '\0' ? other : "libnvidia-ml.so.1");
}

Result<Nvml> Nvml::open(const std::string& library_path) {
  return NvmlLibrary::open(library_path).map([](std::shared_ptr<const NvmlLibrary> library) {
    return Nvml(std::move(library));
  });
}

std::string Nvml::driver_version() const {
  std::array<char, kVersionBytes> text{};
  if (library_->system_driver_version(text.data(), kVersionBytes) != kNvmlSuccess) return {};
  return text.data();
}

Result<NvmlDevice> Nvml::device(const std::string& uuid) const {
  void* handle = nullptr;
  if (const NvmlStatus status = library_->device_by_uuid(uuid.c_str(), &handle); status != kNvmlSuccess) {
    return fail(ErrorKind::kEnvironment, fmt::format("NVML does not know GPU {}: {}", uuid, library_->text(status)));
  }
  return NvmlDevice(library_, handle, uuid);
}

void* NvmlDevice::whole_gpu() const {
  void* gpu = nullptr;
  const bool instance = read<unsigned>(library_->is_mig_instance, handle_).value_or(0) != 0;
  if (!instance || library_->gpu_of_mig_instance == nullptr) return handle_;
  return library_->gpu_of_mig_instance(handle_, &gpu) == kNvmlSuccess ? gpu : handle_;
}

double NvmlDevice::power_limit_w() const {
  return read<unsigned>(library_->enforced_power_limit, whole_gpu()).value_or(0) / 1000.0;
}

std::string NvmlDevice::mig_profile() const {
  if (read<unsigned>(library_->is_mig_instance, handle_).value_or(0) == 0 || library_->device_name == nullptr)
    return {};
  std::array<char, kNameBytes> name{};
  if (library_->device_name(handle_, name.data(), kNameBytes) != kNvmlSuccess) return {};
  return mig_profile_in(name.data());
}

bool NvmlDevice::in_mig_mode() const {
  unsigned now = 0, after_reset = 0;
  return library_->mig_mode != nullptr && library_->mig_mode(whole_gpu(), &now, &after_reset) == kNvmlSuccess &&
         now != 0;
}

std::optional<double> NvmlDevice::temperature_c() const {
  return read<unsigned>(library_->temperature, handle_, kTemperatureGpu);
}

ThrottleTimes NvmlDevice::throttle_times() const {
  constexpr std::array<unsigned, 5> kIds{kFieldPowerCap, kFieldThermal, kFieldThermalSoftware, kFieldThermalHardware,
                                         kFieldPowerBrake};
  const auto fields = read_fields(*library_, handle_, kIds);
  ThrottleTimes times;
  if (const auto power_ns = value_of(fields[0])) times.power_cap_s = *power_ns * 1e-9;
  // The older thermal counter and the newer ones overlap: the largest of them is the time, not their sum. Only the
  // power brake is another cause.
  std::optional<double> heat_ns;
  for (std::size_t i = 1; i <= 3; ++i) {
    if (const auto value_ns = value_of(fields[i])) heat_ns = std::max(heat_ns.value_or(0), *value_ns);
  }
  const auto brake_ns = value_of(fields[4]);
  if (heat_ns || brake_ns) times.thermal_s = (heat_ns.value_or(0) + brake_ns.value_or(0)) * 1e-9;
  return times;
}

std::optional<double> NvmlDevice::energy_j() const {
  const auto energy_mj = read<unsigned long long>(library_->total_energy, handle_);
  if (!energy_mj) return std::nullopt;
  return static_cast<double>(*energy_mj) * 1e-3;
}

std::optional<double> NvmlDevice::averaged_power_w() const {
  const auto fields = read_fields(*library_, handle_, std::array{kFieldPowerAverage});
  const auto power_mw = value_of(fields[0]);
  if (!power_mw) return std::nullopt;
  return *power_mw * 1e-3;
}

std::optional<double> NvmlDevice::sm_clock_hz() const {
  const auto clock_mhz = read<unsigned>(library_->clock_info, handle_, kNvmlClockSm);
  if (!clock_mhz) return std::nullopt;
  return *clock_mhz * 1e6;
}

std::vector<GpuProcess> NvmlDevice::compute_processes() const {
  if (library_->compute_processes == nullptr) return {};
  std::vector<NvmlProcessInfo> infos(kUsualProcesses);
  auto count = static_cast<unsigned>(infos.size());
  NvmlStatus status = library_->compute_processes(handle_, &count, infos.data());
  if (status == kNvmlInsufficientSize) {  // count is how many there are
    infos.resize(count + kUsualProcesses);
    count = static_cast<unsigned>(infos.size());
    status = library_->compute_processes(handle_, &count, infos.data());
  }
  if (status != kNvmlSuccess) return {};
  infos.resize(std::min<std::size_t>(count, infos.size()));
  std::vector<GpuProcess> processes;
  for (const NvmlProcessInfo& info : infos) {
    constexpr unsigned long long kNotAvailable = ~0ULL;
    const unsigned long long bytes = info.memory_bytes == kNotAvailable ? 0 : info.memory_bytes;
    processes.push_back({static_cast<int>(info.pid), static_cast<std::int64_t>(bytes), name_of_process(info.pid)});
  }
  return processes;
}

std::optional<double> energy_step_s(const EnergyCounter& counter, double patience_s) {
  const double until_s = counter.now_s() + patience_s;
  std::optional<double> last_j = counter.energy_j();
  std::vector<double> changes_s;
  while (last_j && changes_s.size() < kChanges && counter.now_s() < until_s) {
    counter.sleep_s(kBetweenReadings_s);
    const auto now_j = counter.energy_j();
    if (now_j != last_j) changes_s.push_back(counter.now_s());
    last_j = now_j;
  }
  if (changes_s.size() < 3) return std::nullopt;
  std::vector<double> gaps_s;
  for (std::size_t i = 1; i < changes_s.size(); ++i) gaps_s.push_back(changes_s[i] - changes_s[i - 1]);
  return middle_of(std::move(gaps_s));
}

std::optional<double> energy_step_s(const NvmlDevice& device, std::chrono::milliseconds patience) {
  using Seconds = std::chrono::duration<double>;
  const EnergyCounter counter{
      .energy_j = [&device] { return device.energy_j(); },
      .now_s = [] { return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count(); },
      .sleep_s = [](double time_s) { std::this_thread::sleep_for(Seconds(time_s)); }};
  return energy_step_s(counter, Seconds(patience).count());
}

}  // namespace pgtune::gpu
