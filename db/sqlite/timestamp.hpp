// SPDX-License-Identifier: MIT
// The time of day as the database writes it.
#pragma once

#include <cstdint>
#include <string>

namespace pgtune::db {

/// UTC, ISO 8601, whole seconds: "2026-01-01T00:00:00Z".
[[nodiscard]] std::string utc_now();
[[nodiscard]] std::int64_t unix_time_ms();

}  // namespace pgtune::db
