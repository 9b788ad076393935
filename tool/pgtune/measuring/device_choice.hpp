// SPDX-License-Identifier: MIT
// -Resolves the text of --device to a GPU to measure on, or to recordings.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.hpp"
#include "tool/pgtune/cli/context.hpp"
#include "tool/pgtune/cli/paths.hpp"
#include "tool/pgtune/cli/terminal/terminal.hpp"
#include "tuner/device/device_list.hpp"
#include "tuner/model/records.hpp"
#include "tuner/session/search_session.hpp"

namespace pgtune::tool {

/// The device of a command; known without starting work on it.
struct DeviceChoice {
  DeviceInfo info;                  ///< of recordings: the GPU that most of them were made on
  std::optional<int> ordinal = {};  ///< of the GPU; nothing: there is none to measure on
  std::shared_ptr<const std::vector<db::Database>> recordings = {};  ///< null: a GPU, or one that is only planned for
  std::string description;                                           ///< for display: "NVIDIA H200, GPU 0, ..."
  std::string no_gpu = {};  ///< why auto found no GPU; empty if it did or was not used

  [[nodiscard]] bool is_gpu() const { return ordinal.has_value(); }
};

/// Its word in JSON: "gpu", "recorded" or "architecture".
[[nodiscard]] std::string_view source_word(const DeviceChoice& choice);

/// Whether the word can be a GPU's number or UUID.
[[nodiscard]] bool names_gpu(const std::string& word);

/// A GPU whose facts are known already.
[[nodiscard]] DeviceChoice gpu_choice(const DeviceInfo& info, std::size_t ordinal);

/// `option`: auto, an ordinal, a GPU UUID (or the beginning of one), recording, recording:FILE. With auto and no usable
/// GPU, takes the recordings of this build. Throws CommandError: unknown device (usage), no GPU, worker or recording
/// (environment); db::Error for a bad recording file.
[[nodiscard]] DeviceChoice choose_device(const Context& context, const std::string& option);

/// Throw CommandError (usage) if no machine could have what `option` names for choose_device(), choose_devices().
void require_device_name(const std::string& option);
void require_device_names(const std::string& option);

/// The devices that `option` names for work on several at once: all (every GPU that CUDA shows), GPUs' numbers and
/// UUIDs separated by commas, or an option of choose_device(). Throws the errors of choose_device(), and CommandError
/// (usage) if a GPU is named twice.
[[nodiscard]] std::vector<DeviceChoice> choose_devices(const Context& context, const std::string& option);

/// For work that needs a GPU: throws CommandError (environment) with the cause if `choice` is none. `what`: "a bench".
void require_gpu(const DeviceChoice& choice, std::string_view what);

/// Like choose_devices() for work that only plans: with auto and neither GPU nor recording, a typical GPU of sm_90a.
/// Prints a note if there is no GPU.
[[nodiscard]] std::vector<DeviceChoice> choose_devices_to_plan(Context& context, const std::string& option);

/// For commands that need no GPU: facts about the device or architecture that `option` names. Throws the errors of
/// choose_device(), with the names of architectures.
[[nodiscard]] DeviceInfo device_or_architecture(Context& context, const std::string& option);

// The first lines of a measuring command on standard error: clocks, device, regime, database.

struct Announcement {
  const DeviceChoice& choice;
  const session::SessionOptions& session;       ///< its conditions with the clock that is locked
  std::string database;                         ///< the file
  std::vector<std::string> clock_notes = {};    ///< the lock's note
  std::vector<std::string> other_devices = {};  ///< DeviceChoice::description of the other devices
  bool clock_unknown = false;                   ///< for a plan: the clock is known once it is locked
};

void announce(Terminal& terminal, const Announcement& announcement);

// The GPU of this machine without asking CUDA, which takes longer than an answer from the database may.

/// The limits of the GPU with a UUID: device::gpu_limits() outside tests.
using ReadLimits = std::function<Result<device::GpuLimits>(const std::string& uuid)>;

/// The database's facts of this machine's GPU, with its present power limit. The kernel driver must show exactly one
/// GPU, `option` (--device) must select it, neither it nor the driver may have changed, and it must not be divided into
/// instances. Nothing if any of that is in doubt. `driver_folder` is /proc/driver/nvidia outside tests.
[[nodiscard]] std::optional<DeviceInfo> known_gpu(const db::Database& database, const std::string& option,
                                                  const Environment& environment,
                                                  const std::filesystem::path& driver_folder,
                                                  const ReadLimits& read_limits);

}  // namespace pgtune::tool
