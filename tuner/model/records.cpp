// SPDX-License-Identifier: MIT
#include "tuner/model/records.hpp"

#include "tuner/util/named_enum.hpp"

namespace pgtune {
namespace {

constexpr EnumNames<Stage, 4> kStages{
    {{Stage::kScreen, "screen"}, {Stage::kFloor, "floor"}, {Stage::kRace, "race"}, {Stage::kFinal, "final"}}};

}  // namespace

std::string DeviceInfo::driver_branch() const { return driver_version.substr(0, driver_version.find('.')); }

std::string_view to_string(Stage stage) { return enum_name(kStages, stage); }

std::optional<Stage> parse_stage(std::string_view text) { return enum_value(kStages, text); }

}  // namespace pgtune
