// SPDX-License-Identifier: MIT
// --device: from the text of the option to a device a search can run on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/database.hpp"
#include "tool/pgtune/cli/context.hpp"
#include "tuner/model/records.hpp"
#include "tuner/space/template_set.hpp"

namespace pgtune::tool {

/// Which device a command will use; known without starting work on it.
struct DeviceChoice {
  DeviceInfo info;
  std::optional<Source> source;  ///< nothing: a typical GPU, which is only planned for
  int ordinal = 0;               ///< of the GPU
  std::shared_ptr<const std::vector<db::Database>> recordings = {};  ///< replay: opened once, for all problems
  std::vector<std::string> recorded_on = {};  ///< replay: the names of all GPUs that recordings were made on
  std::string description;                    ///< for people: "NVIDIA H200 (GPU 0)" or "NVIDIA H200, replayed from ..."
  std::vector<std::string> notes = {};        ///< why it is this one; choose_device() leaves it to the caller to tell
};

/// The source as JSON names it: its word, or "architecture".
[[nodiscard]] std::string_view source_word(const DeviceChoice& choice);

/// A GPU whose facts are known already.
[[nodiscard]] DeviceChoice gpu_choice(const DeviceInfo& info, std::size_t ordinal);

/// `option`: auto, an ordinal, a GPU UUID (or the beginning of one), replay, replay:FILE. With auto and no usable GPU,
/// takes the recording and says so and why in `notes`. Throws CommandError: unknown device (usage), no GPU, worker or
/// recording (environment); db::Error for a bad recording file.
[[nodiscard]] DeviceChoice choose_device(const Context& context, const std::string& option);

/// The devices that `option` names for work on several at once: all (every GPU that CUDA shows), GPUs' numbers and
/// UUIDs after commas, or what choose_device() takes. Throws CommandError as choose_device() does, and (usage) where a
/// GPU is named twice.
[[nodiscard]] std::vector<DeviceChoice> choose_devices(const Context& context, const std::string& option);

/// As choose_devices() for work that only plans, of which the first is enough: with auto and neither GPU nor recording,
/// a typical GPU of sm_90a, with a note.
[[nodiscard]] DeviceChoice choose_device_to_plan(Context& context, const std::string& option);

/// For commands that need no GPU: facts about the device or architecture that `option` names. Throws CommandError as
/// choose_device() does, with the architectures named.
[[nodiscard]] DeviceInfo device_or_architecture(Context& context, const std::string& option);

/// What answers for a problem, and whom what is found belongs to.
struct Answering {
  DeviceChoice device;
  space::TemplateSet templates;
};

/// Of a replay the GPU that the problem was recorded on, and recorded_versions() of the templates; where it is not
/// recorded, and of a GPU, what was given.
[[nodiscard]] Answering answering(const DeviceChoice& choice, const space::TemplateSet& templates,
                                  const Problem& problem);

}  // namespace pgtune::tool
