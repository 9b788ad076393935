// SPDX-License-Identifier: MIT
#include "tuner/model/sampling.hpp"

namespace pgtune {
namespace {

constexpr EnumNames<Sampling, 2> kSamplings{{{Sampling::kShort, "short"}, {Sampling::kSettled, "settled"}}};

}  // namespace

EnumTable<Sampling> enum_table(Sampling /*sampling*/) { return kSamplings; }

}  // namespace pgtune
