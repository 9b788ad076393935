// SPDX-License-Identifier: MIT
// JSON forms of a session's answer: the database keeps it as text, --json output is built on it.
// from_json throws nlohmann::json::exception on a missing field or wrong type. Fields that came later than the first
// form (all that tell of clocks, verdicts, noise, stages and energy) may be missing and have their defaults then.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tuner/session/store.hpp"

namespace pgtune::session {

/// {"space", "valid", "compiled", "measured", "failed": {"compile_failed": 3, ...}}; only kinds that occurred.
void to_json(nlohmann::json& json, const CountsRecord& value);
void from_json(const nlohmann::json& json, CountsRecord& value);
/// {"windows", "energy_j", "energy_range_j": [low, high], "power_w", "time_s", "sm_clock_hz", "power_cap_share",
/// "uncertainty", "suspect", "ratio_to_baseline", "ratio_range": [low, high]}; the share only where it is known.
void to_json(nlohmann::json& json, const EnergySummary& value);
void from_json(const nlohmann::json& json, EnergySummary& value);
/// {"rounds", "half_width", "margin"}
void to_json(nlohmann::json& json, const NoiseFloor& value);
void from_json(const nlohmann::json& json, NoiseFloor& value);
/// {"screen_s", "floor_s", "race_s", "final_s"}
void to_json(nlohmann::json& json, const StageTimes& value);
void from_json(const nlohmann::json& json, StageTimes& value);
/// {"variant", "build", "time_s", "tflops", "spread", "ratio_to_baseline", "ratio_interval": [low, high], "verdict",
/// "energy", "pareto"}; energy only where it was measured.
void to_json(nlohmann::json& json, const RankedVariant& value);
void from_json(const nlohmann::json& json, RankedVariant& value);
/// As RankedVariant without spread, energy and pareto, with "cycles_ratio", "cycles_interval": [low, high],
/// "sm_clock_hz", "baseline_clock_hz", "baseline_first_s", "baseline_best_s", "ties".
void to_json(nlohmann::json& json, const BestRecord& value);
void from_json(const nlohmann::json& json, BestRecord& value);
/// {"best", "ranking", "baseline", "counts", "complete", "from_final", "finished_at", "objective", "noise_floor",
/// "stages", "raced", "voided_rounds", "baseline_energy", "idle_power_w", "notes"}; the energies only where they were
/// measured.
void to_json(nlohmann::json& json, const StoredAnswer& value);
void from_json(const nlohmann::json& json, StoredAnswer& value);

}  // namespace pgtune::session
