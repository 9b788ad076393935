// SPDX-License-Identifier: MIT
#include "tuner/model/outcome.hpp"

#include "tuner/util/named_enum.hpp"

namespace pgtune {
namespace {

constexpr EnumNames<OutcomeKind, kAllOutcomeKinds.size()> kNames{{{OutcomeKind::kOk, "ok"},
                                                                  {OutcomeKind::kInvalid, "invalid"},
                                                                  {OutcomeKind::kCompileFailed, "compile_failed"},
                                                                  {OutcomeKind::kLaunchFailed, "launch_failed"},
                                                                  {OutcomeKind::kWrongResult, "wrong_result"},
                                                                  {OutcomeKind::kTimeout, "timeout"},
                                                                  {OutcomeKind::kCrashed, "crashed"},
                                                                  {OutcomeKind::kUnstable, "unstable"},
                                                                  {OutcomeKind::kQuarantined, "quarantined"},
                                                                  {OutcomeKind::kNotRecorded, "not_recorded"}}};

}  // namespace

std::string_view to_string(OutcomeKind kind) { return enum_name(kNames, kind); }

std::optional<OutcomeKind> parse_outcome_kind(std::string_view text) { return enum_value(kNames, text); }

}  // namespace pgtune
