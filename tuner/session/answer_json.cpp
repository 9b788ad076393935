// SPDX-License-Identifier: MIT
#include "tuner/session/answer_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tuner/model/json.hpp"

namespace pgtune::session {
namespace {

using nlohmann::json;

/// The fields BestRecord and RankedVariant share.
template <typename Record>
json measured_json(const Record& value) {
  return {{"variant", value.variant},
          {"build", value.build},
          {"time_s", value.time_s},
          {"tflops", value.tflops},
          {"ratio_to_reference", value.ratio_to_reference},
          {"ratio_interval", {value.ratio_low, value.ratio_high}}};
}

template <typename Record>
void read_measured(const json& in, Record& value) {
  in.at("variant").get_to(value.variant);
  in.at("build").get_to(value.build);
  in.at("time_s").get_to(value.time_s);
  in.at("tflops").get_to(value.tflops);
  in.at("ratio_to_reference").get_to(value.ratio_to_reference);
  in.at("ratio_interval").at(0).get_to(value.ratio_low);
  in.at("ratio_interval").at(1).get_to(value.ratio_high);
}

}  // namespace

void to_json(json& out, const CountsRecord& value) {
  json failed = json::object();
  for (const auto& [kind, count] : value.failed) failed[std::string(to_string(kind))] = count;
  out = {{"space", value.space},
         {"valid", value.valid},
         {"compiled", value.compiled},
         {"measured", value.measured},
         {"failed", std::move(failed)}};
}

void from_json(const json& in, CountsRecord& value) {
  in.at("space").get_to(value.space);
  in.at("valid").get_to(value.valid);
  in.at("compiled").get_to(value.compiled);
  in.at("measured").get_to(value.measured);
  value.failed.clear();
  const json& failed = in.at("failed");
  for (const auto& [name, count] : failed.items()) {
    const auto kind = parse_outcome_kind(name);
    if (!kind) throw json::other_error::create(501, fmt::format("unknown outcome \"{}\"", name), &failed);
    value.failed[*kind] = count.get<std::int64_t>();
  }
}

void to_json(json& out, const RankedVariant& value) {
  out = measured_json(value);
  out["spread"] = value.spread;
}

void from_json(const json& in, RankedVariant& value) {
  read_measured(in, value);
  in.at("spread").get_to(value.spread);
}

void to_json(json& out, const BestRecord& value) {
  out = measured_json(value);
  out["reference_first_s"] = value.reference_first_s;
  out["reference_best_s"] = value.reference_best_s;
  out["ties"] = value.ties;
}

void from_json(const json& in, BestRecord& value) {
  read_measured(in, value);
  in.at("reference_first_s").get_to(value.reference_first_s);
  in.at("reference_best_s").get_to(value.reference_best_s);
  in.at("ties").get_to(value.ties);
}

void to_json(json& out, const StoredAnswer& value) {
  out = {{"best", value.best},
         {"ranking", value.ranking},
         {"reference", value.reference},
         {"counts", value.counts},
         {"complete", value.complete},
         {"from_final", value.from_final},
         {"finished_at", value.finished_at}};
}

void from_json(const json& in, StoredAnswer& value) {
  in.at("best").get_to(value.best);
  in.at("ranking").get_to(value.ranking);
  in.at("reference").get_to(value.reference);
  in.at("counts").get_to(value.counts);
  in.at("complete").get_to(value.complete);
  in.at("from_final").get_to(value.from_final);
  in.at("finished_at").get_to(value.finished_at);
}

}  // namespace pgtune::session
