// SPDX-License-Identifier: MIT
// JSON forms of the model's types (nlohmann ADL hooks), used by the worker protocol, the database's blobs and --json.
// from_json throws nlohmann::json::exception on a missing field or wrong type.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tuner/model/conditions.hpp"
#include "tuner/model/energy_window.hpp"
#include "tuner/model/launch_plan.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"
#include "tuner/model/variant.hpp"

namespace pgtune {

void to_json(nlohmann::json& json, const Problem& value);
void from_json(const nlohmann::json& json, Problem& value);
/// Parameters only, as an object: {"BM": 128, "COPY": "cp_async"}. Order is the template's, so it is not read back from
/// here.
[[nodiscard]] nlohmann::json parameters_to_json(const Variant& variant);
void to_json(nlohmann::json& json, const Variant& value);
void from_json(const nlohmann::json& json, Variant& value);
void to_json(nlohmann::json& json, const LaunchPlan& value);
void from_json(const nlohmann::json& json, LaunchPlan& value);
void to_json(nlohmann::json& json, const DeviceInfo& value);
void from_json(const nlohmann::json& json, DeviceInfo& value);
void to_json(nlohmann::json& json, const BuildInfo& value);
void from_json(const nlohmann::json& json, BuildInfo& value);
void to_json(nlohmann::json& json, const Sample& value);
void from_json(const nlohmann::json& json, Sample& value);
void to_json(nlohmann::json& json, const BaselineAlgorithm& value);
void from_json(const nlohmann::json& json, BaselineAlgorithm& value);
void to_json(nlohmann::json& json, const BaselineReport& value);
void from_json(const nlohmann::json& json, BaselineReport& value);
void to_json(nlohmann::json& json, const Outcome& value);
void from_json(const nlohmann::json& json, Outcome& value);
void to_json(nlohmann::json& json, const Conditions& value);
void from_json(const nlohmann::json& json, Conditions& value);
void to_json(nlohmann::json& json, const EnergyWindow& value);
void from_json(const nlohmann::json& json, EnergyWindow& value);
void to_json(nlohmann::json& json, const Ceilings& value);
void from_json(const nlohmann::json& json, Ceilings& value);
void to_json(nlohmann::json& json, const TrialReport& value);
void from_json(const nlohmann::json& json, TrialReport& value);

}  // namespace pgtune
