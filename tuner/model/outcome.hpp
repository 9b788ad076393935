// SPDX-License-Identifier: MIT
// What became of a variant. Always data with a reason, never an exception.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "tuner/util/fields.hpp"
#include "tuner/util/named_enum.hpp"

namespace pgtune {

enum class OutcomeKind {
  kOk,       ///< right and timed (or dropped early as clearly slow, see TrialReport::cut)
  kInvalid,  ///< a static rule or the build's resources exclude it
  kCompileFailed,
  kLaunchFailed,
  kWrongResult,
  kTimeout,
  kCrashed,
  kUnstable,
  kQuarantined,  ///< not run: it crashed or hung in an earlier search; the reason says where
};

inline constexpr std::array kAllOutcomeKinds{
    OutcomeKind::kOk,           OutcomeKind::kInvalid,     OutcomeKind::kCompileFailed,
    OutcomeKind::kLaunchFailed, OutcomeKind::kWrongResult, OutcomeKind::kTimeout,
    OutcomeKind::kCrashed,      OutcomeKind::kUnstable,    OutcomeKind::kQuarantined};

/// "ok", "invalid", "compile_failed", ... as stored and shown.
[[nodiscard]] EnumTable<OutcomeKind> enum_table(OutcomeKind kind);

struct Outcome {
  OutcomeKind kind = OutcomeKind::kOk;
  std::string reason;  ///< one line; empty only for kOk

  PGTUNE_FIELDS(kind, reason)
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

}  // namespace pgtune
