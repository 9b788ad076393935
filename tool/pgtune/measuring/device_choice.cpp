// SPDX-License-Identifier: MIT
#include "tool/pgtune/measuring/device_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/terminal/text_table.hpp"
#include "tool/pgtune/replay/recorded_versions.hpp"
#include "tool/pgtune/replay/recording_loader.hpp"
#include "tuner/device/device_list.hpp"
#include "tuner/model/architectures.hpp"

namespace pgtune::tool {
namespace {

constexpr std::string_view kAutomatic = "auto", kEveryGpu = "all", kReplay = "replay";
constexpr std::string_view kReplayFile = "replay:";
constexpr const char* kPlanArchitecture = "sm_90a";
constexpr const char* kDeviceRemedy =
    "Give auto, a GPU's number or UUID ('pgtune devices' lists them), replay, or replay:FILE.";
constexpr const char* kDevicesRemedy =
    "Give auto, a GPU's number or UUID ('pgtune devices' lists them) or several of these after commas, all, replay, or "
    "replay:FILE.";

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// The GPU becomes `info`, of `database`.
void replay_on(DeviceChoice& choice, DeviceInfo info, const db::Database& database) {
  choice.info = std::move(info);
  choice.description =
      fmt::format("{}, {}, replayed from {}", choice.info.name, choice.info.architecture, database.origin());
}

/// Chooses the GPU that most of the recordings were made on, and the first of these: what stands for all until a
/// problem says which recording holds it.
void replay_on_usual(DeviceChoice& choice) {
  const std::vector<db::Database>& recordings = *choice.recordings;
  std::map<std::string, std::vector<std::pair<DeviceInfo, const db::Database*>>> by_name;
  for (const db::Database& recording : recordings) {
    DeviceInfo own = recorded_device(recording);
    std::string name = own.name;
    by_name[std::move(name)].emplace_back(std::move(own), &recording);
  }
  const auto fewer = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
  const auto [device, database] = std::max_element(by_name.begin(), by_name.end(), fewer)->second.front();
  replay_on(choice, device, *database);
  for (const auto& [name, own] : by_name) choice.recorded_on.push_back(name);
}

DeviceChoice replay_choice(const std::string& file) {
  DeviceChoice choice;
  choice.recordings = std::make_shared<const std::vector<db::Database>>(open_recordings(file));
  choice.source = Source::kReplay;
  replay_on_usual(choice);
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
  DeviceChoice choice = replay_choice("");
  choice.notes.emplace_back("No GPU to search on: replaying measurements that come with pgtune.");
  choice.notes.push_back(fact_note("cause", devices.error().text()));
  return choice;
}

}  // namespace

std::string_view source_word(const DeviceChoice& choice) {
  return choice.source ? to_string(*choice.source) : "architecture";
}

DeviceChoice gpu_choice(const DeviceInfo& info, std::size_t ordinal) {
  DeviceChoice choice;
  choice.info = info;
  choice.source = Source::kGpu;
  choice.ordinal = static_cast<int>(ordinal);
  choice.description =
      fmt::format("{}, GPU {}, {}, driver {}", info.name, ordinal, info.architecture, info.driver_version);
  return choice;
}

DeviceChoice choose_device(const Context& context, const std::string& option) {
  if (option == kAutomatic) return automatic_choice(context);
  if (option == kReplay) return replay_choice("");
  if (option.starts_with(kReplayFile) && option.size() > kReplayFile.size())
    return replay_choice(option.substr(kReplayFile.size()));
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
  if (option == kAutomatic || option == kReplay || option.starts_with(kReplayFile))
    return {choose_device(context, option)};
  const std::vector<std::string> words = words_of(option);
  if (!std::all_of(words.begin(), words.end(), names_gpu)) fail_unknown(option, kDevicesRemedy);
  const std::vector<DeviceInfo> devices = gpus_of(context);
  for (const std::string& word : words) {
    DeviceChoice choice = chosen_gpu(devices, word);
    const auto same = [&](const DeviceChoice& other) { return other.info.uuid == choice.info.uuid; };
    if (std::any_of(choices.begin(), choices.end(), same))
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("--device '{}' names GPU {} twice. Name it once.", option, choice.ordinal));
    choices.push_back(std::move(choice));
  }
  return choices;
}

DeviceChoice choose_device_to_plan(Context& context, const std::string& option) {
  if (option != kAutomatic || has_built_in_recording()) {
    DeviceChoice choice = std::move(choose_devices(context, option).front());
    for (const std::string& note : choice.notes) context.terminal().note(note);
    return choice;
  }
  const auto devices = device::list_devices(context.paths().worker.string());
  if (devices) return gpu_choice(devices->front(), 0);
  context.terminal().note(
      fmt::format("No GPU here ({}): planning for a typical {} GPU.", devices.error().text(), kPlanArchitecture));
  DeviceChoice choice;
  choice.info = architecture_info(kPlanArchitecture).value();
  choice.description = fmt::format("a typical {} GPU", kPlanArchitecture);
  return choice;
}

DeviceInfo device_or_architecture(Context& context, const std::string& option) {
  if (auto info = architecture_info(option)) return *info;
  if (option.starts_with("sm_"))
    throw CommandError(ErrorKind::kUsage, fmt::format("unknown architecture '{}'; this pgtune knows: {}", option,
                                                      fmt::join(known_architectures(), ", ")));
  DeviceChoice choice = choose_device(context, option);
  for (const std::string& note : choice.notes) context.terminal().note(note);
  return std::move(choice.info);
}

Answering answering(const DeviceChoice& choice, const space::TemplateSet& templates, const Problem& problem) {
  if (choice.source != Source::kReplay) return {choice, templates};
  Answering out{choice, recorded_versions(*choice.recordings, templates, problem)};
  if (const db::Database* const database = database_holding(*choice.recordings, out.templates, problem))
    replay_on(out.device, recorded_device(*database, out.templates, problem), *database);
  return out;
}

}  // namespace pgtune::tool
