// SPDX-License-Identifier: MIT
#include "tuner/model/outcome.hpp"

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
                                                                  {OutcomeKind::kQuarantined, "quarantined"}}};

}  // namespace

EnumTable<OutcomeKind> enum_table(OutcomeKind /*kind*/) { return kNames; }

}  // namespace pgtune
