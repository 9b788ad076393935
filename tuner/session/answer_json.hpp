// SPDX-License-Identifier: MIT
// JSON forms of a session's answer: the database keeps it as text, --json output is built on it.
// from_json throws nlohmann::json::exception on a missing field or wrong type.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tuner/session/store.hpp"

namespace pgtune::session {

/// {"space", "valid", "compiled", "measured", "failed": {"compile_failed": 3, ...}}; only kinds that occurred.
void to_json(nlohmann::json& json, const CountsRecord& value);
void from_json(const nlohmann::json& json, CountsRecord& value);
/// {"variant", "build", "time_s", "tflops", "spread", "ratio_to_reference", "ratio_interval": [low, high]}
void to_json(nlohmann::json& json, const RankedVariant& value);
void from_json(const nlohmann::json& json, RankedVariant& value);
/// As RankedVariant without spread, with "reference_first_s", "reference_best_s", "ties".
void to_json(nlohmann::json& json, const BestRecord& value);
void from_json(const nlohmann::json& json, BestRecord& value);
/// {"best", "ranking", "reference", "counts", "complete", "from_final", "finished_at"}
void to_json(nlohmann::json& json, const StoredAnswer& value);
void from_json(const nlohmann::json& json, StoredAnswer& value);

}  // namespace pgtune::session
