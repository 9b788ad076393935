// SPDX-License-Identifier: MIT
// JSON of the model's types, used by the worker protocol, the database's blobs and --json. Records that name their
// fields have it from there (util/fields_json.hpp); here is what has a form of its own.
// from_json throws nlohmann::json::exception on a missing field or wrong type.
#pragma once

#include "tuner/model/conditions.hpp"
#include "tuner/model/energy_window.hpp"
#include "tuner/model/launch_plan.hpp"
#include "tuner/model/problem.hpp"
#include "tuner/model/records.hpp"
#include "tuner/model/source.hpp"
#include "tuner/model/variant.hpp"
#include "tuner/util/fields_json.hpp"

namespace pgtune {

/// Reading checks the problem as with_default_strides() does.
void to_json(nlohmann::json& json, const Problem& value);
void from_json(const nlohmann::json& json, Problem& value);
/// Parameters only, as an object: {"BM": 128, "COPY": "cp_async"}. Order is the template's, so it is not read back from
/// here.
[[nodiscard]] nlohmann::json parameters_to_json(const Variant& variant);
/// {"template", "parameters": [["BM", 128], ["COPY", "cp_async"]]}
void to_json(nlohmann::json& json, const Variant& value);
void from_json(const nlohmann::json& json, Variant& value);
/// [x, y, z]
void to_json(nlohmann::json& json, const Dim3& value);
void from_json(const nlohmann::json& json, Dim3& value);
/// {"kind", "operand"} of a pointer, {"kind", "value"} of the others.
void to_json(nlohmann::json& json, const KernelArgument& value);
void from_json(const nlohmann::json& json, KernelArgument& value);

}  // namespace pgtune
