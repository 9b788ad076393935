// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/device_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>

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
constexpr const char* kDevicesRemedy =
    "Give auto, a GPU's number or UUID ('pgtune devices' lists them) or several of these after commas, all, recording, "
    "or recording:FILE.";

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
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

bool names_gpu(const std::string& word) {
  const bool uuid = word.starts_with("GPU-") || word.starts_with("MIG-");
  return is_number(word) || (uuid && word.size() > 4);
}

[[noreturn]] void fail_unknown(const std::string& option, const char* remedy) {
  throw CommandError(ErrorKind::kUsage, fmt::format("unknown device '{}'. {}", option, remedy));
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

DeviceChoice choose_device(const Context& context, const std::string& option) {
  if (option == kAutomatic) return automatic_choice(context);
  if (option == kRecording) return recording_choice("");
  if (option.starts_with(kRecordingFile) && option.size() > kRecordingFile.size())
    return recording_choice(option.substr(kRecordingFile.size()));
  if (names_gpu(option)) return chosen_gpu(gpus_of(context), option);
  fail_unknown(option, kDeviceRemedy);
}

std::vector<DeviceChoice> choose_devices(const Context& context, const std::string& option) {
  std::vector<DeviceChoice> choices;
  if (option == kEveryGpu) {
    const std::vector<DeviceInfo> devices = gpus_of(context);
    for (std::size_t i = 0; i < devices.size(); ++i) choices.push_back(gpu_choice(devices[i], i));
    return choices;
  }
  if (option == kAutomatic || option == kRecording || option.starts_with(kRecordingFile))
    return {choose_device(context, option)};
  const std::vector<std::string> words = words_of(option);
  if (!std::all_of(words.begin(), words.end(), names_gpu)) fail_unknown(option, kDevicesRemedy);
  const std::vector<DeviceInfo> devices = gpus_of(context);
  for (const std::string& word : words) {
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

DeviceChoice choose_device_to_plan(Context& context, const std::string& option) {
  DeviceChoice choice;
  if (option != kAutomatic || has_built_in_recording()) {
    choice = std::move(choose_devices(context, option).front());
  } else if (const auto devices = device::list_devices(context.paths().worker.string())) {
    return gpu_choice(devices->front(), 0);
  } else {
    choice.info = architecture_info(kPlanArchitecture).value();
    choice.description = fmt::format("a typical {} GPU", kPlanArchitecture);
    choice.no_gpu = devices.error().text();
  }
  note_missing_gpu(context.terminal(), choice);
  return choice;
}

DeviceInfo device_or_architecture(Context& context, const std::string& option) {
  if (auto info = architecture_info(option)) return *info;
  if (option.starts_with("sm_"))
    throw CommandError(ErrorKind::kUsage, fmt::format("unknown architecture '{}'; this pgtune knows: {}", option,
                                                      fmt::join(known_architectures(), ", ")));
  DeviceChoice choice = choose_device(context, option);
  note_missing_gpu(context.terminal(), choice);
  return std::move(choice.info);
}

}  // namespace pgtune::tool
