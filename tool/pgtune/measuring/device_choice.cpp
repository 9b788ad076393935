// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/device_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "db/queries/queries.hpp"
#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/recording/recordings.hpp"
#include "tuner/device/device_list.hpp"
#include "tuner/model/architectures.hpp"

namespace pgtune::tool {
namespace {

constexpr std::string_view kAutomatic = "auto", kEveryGpu = "all", kRecording = "recording";
constexpr std::string_view kRecordingFile = "recording:";
constexpr const char* kPlanArchitecture = "sm_90a";
constexpr const char* kDeviceRemedy =
    "Give auto, a GPU's number or UUID ('pgtune devices' lists them), recording, or recording:FILE.";
constexpr const char* kDeviceOrArchitectureRemedy =
    "Give auto, a GPU's number or UUID ('pgtune devices' lists them), recording, recording:FILE, or an architecture "
    "such as sm_90a.";
constexpr const char* kDevicesRemedy =
    "Give auto, a GPU's number or UUID ('pgtune devices' lists them) or several of these after commas, all, recording, "
    "or recording:FILE.";

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool names_recording_or_auto(const std::string& option) {
  return option == kAutomatic || option == kRecording ||
         (option.starts_with(kRecordingFile) && option.size() > kRecordingFile.size());
}

DeviceChoice recording_choice(const std::string& file) {
  DeviceChoice choice;
  choice.recordings = std::make_shared<const std::vector<db::Database>>(open_recordings(file));
  choice.info = usual_device(*choice.recordings);
  choice.description = fmt::format("{}, {}, of the recordings", choice.info.name, choice.info.architecture);
  return choice;
}

DeviceChoice chosen_gpu(const std::vector<DeviceInfo>& devices, const std::string& option) {
  if (is_number(option)) {
    const std::size_t ordinal = option.size() < 9 ? std::stoul(option) : devices.size();
    if (ordinal < devices.size()) return gpu_choice(devices[ordinal], ordinal);
    throw CommandError(
        ErrorKind::kUsage,
        fmt::format("there is no GPU {}: this machine has {}. {}", option,
                    devices.size() == 1 ? "one, number 0" : fmt::format("0 to {}", devices.size() - 1), kDeviceRemedy));
  }
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const DeviceInfo& info) { return info.uuid.starts_with(option); });
  if (found != devices.end()) return gpu_choice(*found, static_cast<std::size_t>(found - devices.begin()));
  throw CommandError(ErrorKind::kUsage,
                     fmt::format("no GPU on this machine has the UUID '{}'. {}", option, kDeviceRemedy));
}

std::vector<DeviceInfo> gpus_of(const Context& context) {
  return value_or_throw(device::list_devices(context.paths().worker.string()));
}

[[noreturn]] void fail_unknown(const std::string& option, const char* remedy) {
  if (architecture_info(option))
    throw CommandError(ErrorKind::kUsage,
                       fmt::format("'{}' is an architecture, and this command needs a GPU or a recording. {} 'pgtune "
                                   "space', 'inspect', 'ladder' and 'guess' take architectures.",
                                   option, remedy));
  throw CommandError(ErrorKind::kUsage, fmt::format("unknown device '{}'. {}", option, remedy));
}

void require_one_device(const std::string& option, const char* remedy) {
  if (!names_gpu(option) && !names_recording_or_auto(option)) fail_unknown(option, remedy);
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words{{}};
  for (const char letter : list) {
    if (letter == ',') {
      words.emplace_back();
    } else {
      words.back() += letter;
    }
  }
  return words;
}

DeviceChoice automatic_choice(const Context& context) {
  const auto devices = device::list_devices(context.paths().worker.string());
  if (devices) return gpu_choice(devices->front(), 0);
  if (!has_built_in_recording()) throw CommandError(devices.error());
  DeviceChoice choice = recording_choice("");
  choice.no_gpu = devices.error().text();
  return choice;
}

void note_missing_gpu(Terminal& terminal, const DeviceChoice& choice) {
  if (choice.no_gpu.empty()) return;
  terminal.note(fmt::format("No GPU here: taking {}.", choice.description));
  terminal.note(fact_note("cause", choice.no_gpu));
}

}  // namespace

bool names_gpu(const std::string& word) {
  const bool uuid = word.starts_with("GPU-") || word.starts_with("MIG-");
  return is_number(word) || (uuid && word.size() > 4);
}

std::string_view source_word(const DeviceChoice& choice) {
  if (choice.is_gpu()) return "gpu";
  return choice.recordings ? "recorded" : "architecture";
}

DeviceChoice gpu_choice(const DeviceInfo& info, std::size_t ordinal) {
  DeviceChoice choice;
  choice.info = info;
  choice.ordinal = static_cast<int>(ordinal);
  choice.description =
      fmt::format("{}, GPU {}, {}, driver {}", info.name, ordinal, info.architecture, info.driver_version);
  return choice;
}

void require_device_name(const std::string& option) { require_one_device(option, kDeviceRemedy); }

DeviceChoice choose_device(const Context& context, const std::string& option) {
  require_device_name(option);
  if (option == kAutomatic) return automatic_choice(context);
  if (option == kRecording) return recording_choice("");
  if (option.starts_with(kRecordingFile)) return recording_choice(option.substr(kRecordingFile.size()));
  return chosen_gpu(gpus_of(context), option);
}

void require_device_names(const std::string& option) {
  if (option == kEveryGpu || names_recording_or_auto(option)) return;
  const std::vector<std::string> words = words_of(option);
  if (!std::all_of(words.begin(), words.end(), names_gpu)) fail_unknown(option, kDevicesRemedy);
}

std::vector<DeviceChoice> choose_devices(const Context& context, const std::string& option) {
  require_device_names(option);
  std::vector<DeviceChoice> choices;
  if (option == kEveryGpu) {
    const std::vector<DeviceInfo> devices = gpus_of(context);
    for (std::size_t i = 0; i < devices.size(); ++i) choices.push_back(gpu_choice(devices[i], i));
    return choices;
  }
  if (names_recording_or_auto(option)) return {choose_device(context, option)};
  const std::vector<DeviceInfo> devices = gpus_of(context);
  for (const std::string& word : words_of(option)) {
    DeviceChoice choice = chosen_gpu(devices, word);
    const auto same = [&](const DeviceChoice& other) { return other.info.uuid == choice.info.uuid; };
    if (std::any_of(choices.begin(), choices.end(), same))
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("--device '{}' names GPU {} twice. Name it once.", option, *choice.ordinal));
    choices.push_back(std::move(choice));
  }
  return choices;
}

void require_gpu(const DeviceChoice& choice, std::string_view what) {
  if (choice.is_gpu()) return;
  const std::string cause = choice.no_gpu.empty() ? "" : fmt::format(", and there is none: {}", choice.no_gpu);
  throw CommandError(ErrorKind::kEnvironment,
                     fmt::format("{} needs a GPU{}. Recordings hold answers of searches alone, which 'pgtune search' "
                                 "prints without one.",
                                 what, cause));
}

std::vector<DeviceChoice> choose_devices_to_plan(Context& context, const std::string& option) {
  std::vector<DeviceChoice> choices;
  if (option != kAutomatic || has_built_in_recording()) {
    choices = choose_devices(context, option);
  } else if (const auto devices = device::list_devices(context.paths().worker.string())) {
    return {gpu_choice(devices->front(), 0)};
  } else {
    DeviceChoice& choice = choices.emplace_back();
    choice.info = architecture_info(kPlanArchitecture).value();
    choice.description = fmt::format("a typical {} GPU", kPlanArchitecture);
    choice.no_gpu = devices.error().text();
  }
  return choices;
}

DeviceInfo device_or_architecture(Context& context, const std::string& option) {
  if (auto info = architecture_info(option)) return *info;
  if (option.starts_with("sm_"))
    throw CommandError(ErrorKind::kUsage, fmt::format("unknown architecture '{}'; this pgtune knows: {}", option,
                                                      fmt::join(known_architectures(), ", ")));
  require_one_device(option, kDeviceOrArchitectureRemedy);
  DeviceChoice choice = choose_device(context, option);
  note_missing_gpu(context.terminal(), choice);
  return std::move(choice.info);
}

namespace {

std::string clocks_line(const Conditions& conditions) {
  if (conditions.locked_sm_clock_hz > 0)
    return fmt::format("clocks    locked at {:.0f} MHz", conditions.locked_sm_clock_hz / 1e6);
  return "clocks    observed, not locked; --lock-clocks locks them (needs root)";
}

std::string regime_line(const Conditions& conditions) {
  return fmt::format("regime    {}, L2 {}, {} data (seed {})", to_string(conditions.regime), to_string(conditions.l2),
                     to_string(conditions.data), conditions.data_seed);
}

void warn_of_easy_data(Terminal& terminal, const Conditions& conditions) {
  if (!conditions.easy_data()) return;
  terminal.error(
      fmt::format("warning: with --data {} few bits toggle: the GPU draws less power and may run faster than on real "
                  "data, and a wrong result may go unnoticed. Leave --data out to rank kernels.",
                  to_string(conditions.data)));
}

}  // namespace

void announce(Terminal& terminal, const Announcement& announcement) {
  const Conditions& conditions = announcement.session.conditions;
  note_missing_gpu(terminal, announcement.choice);
  terminal.note(announcement.clock_unknown
                    ? "clocks    to be locked; at which clock shows then, so nothing stored is counted"
                    : clocks_line(conditions));
  for (const std::string& note : announcement.clock_notes) terminal.note("clocks    " + note);
  warn_of_easy_data(terminal, conditions);
  terminal.note("device    " + announcement.choice.description);
  for (const std::string& other : announcement.other_devices) terminal.note("device    " + other);
  if (announcement.choice.is_gpu() && announcement.choice.info.power_limit_w <= 0)
    terminal.note(fact_note("unknown",
                            "power limit, temperature, throttling, other programs on the GPU, energy: NVML does not "
                            "tell; results count for this board alone ('pgtune doctor' has the cause)"));
  terminal.detail(regime_line(conditions));
  terminal.detail("database  " + announcement.database);
}

namespace {

namespace fs = std::filesystem;

std::string file_text(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The first word after `label` that fits.
std::optional<std::string> word_after(const std::string& text, const std::string& label,
                                      bool (*fits)(const std::string&)) {
  const std::size_t found = text.find(label);
  if (found == std::string::npos) return std::nullopt;
  std::istringstream words(text.substr(found + label.size()));
  for (std::string word; words >> word;) {
    if (fits(word)) return word;
  }
  return std::nullopt;
}

bool is_uuid(const std::string& word) { return word.starts_with("GPU-"); }

/// "580.159.04", and not the "x86_64" that some drivers put before it.
bool is_version(const std::string& word) {
  return word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) paths.push_back(*it);
  return paths;
}

}  // namespace

std::optional<DeviceInfo> known_gpu(const db::Database& database, const std::string& option,
                                    const Environment& environment, const fs::path& driver_folder,
                                    const ReadLimits& read_limits) {
  if (environment("CUDA_VISIBLE_DEVICES")) return std::nullopt;
  const std::vector<fs::path> gpus = entries(driver_folder / "gpus");
  if (gpus.size() != 1) return std::nullopt;
  const auto uuid = word_after(file_text(gpus.front() / "information"), "GPU UUID:", is_uuid);
  const auto driver = word_after(file_text(driver_folder / "version"), "Kernel Module", is_version);
  if (!uuid || !driver) return std::nullopt;
  const bool meant = option == "auto" || option == "0" || (option.starts_with("GPU-") && uuid->starts_with(option));
  if (!meant) return std::nullopt;
  auto info = db::find_device(database, *uuid);
  if (!info || info->driver_version != *driver) return std::nullopt;
  const auto limits = read_limits(*uuid);
  if (!limits || limits->mig_mode) return std::nullopt;
  info->power_limit_w = limits->power_limit_w;
  return info;
}

}  // namespace pgtune::tool
