// SPDX-License-Identifier: MIT
#include "tuner/protocol/codec.hpp"

#include <fmt/format.h>

#include <utility>

#include "tuner/util/json_depth.hpp"
#include "tuner/util/named_enum.hpp"

namespace pgtune {

using nlohmann::json;

static void to_json(json& out, const SourceFile& value) { out = {{"name", value.name}, {"contents", value.contents}}; }

static void from_json(const json& in, SourceFile& value) {
  in.at("name").get_to(value.name);
  in.at("contents").get_to(value.contents);
}

static void to_json(json& out, const TemplateSource& value) {
  out = {{"name", value.name}, {"contents", value.contents}, {"headers", value.headers}};
}

static void from_json(const json& in, TemplateSource& value) {
  in.at("name").get_to(value.name);
  in.at("contents").get_to(value.contents);
  in.at("headers").get_to(value.headers);
}

static void to_json(json& out, const Define& value) { out = {{"name", value.name}, {"value", value.value}}; }

static void from_json(const json& in, Define& value) {
  in.at("name").get_to(value.name);
  in.at("value").get_to(value.value);
}

}  // namespace pgtune

namespace pgtune::protocol {
namespace {

using nlohmann::json;

constexpr EnumNames<ErrorKind, 4> kErrorKinds{{{ErrorKind::kUsage, "usage"},
                                               {ErrorKind::kEnvironment, "environment"},
                                               {ErrorKind::kDatabase, "database"},
                                               {ErrorKind::kInternal, "internal"}}};

constexpr std::size_t kShownBytes = 80;

/// A log with stray bytes must not end the conversation: what is not UTF-8 is replaced.
std::string one_line(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

tl::unexpected<Error> malformed(std::string_view what, std::string_view line, std::string_view why) {
  const bool shortened = line.size() > kShownBytes;
  return fail(ErrorKind::kInternal, fmt::format("malformed {} line '{}{}': {}", what, line.substr(0, kShownBytes),
                                                shortened ? "..." : "", why));
}

/// Runs `read` on the parsed line; whatever is wrong with it becomes an Error.
template <typename T, typename Read>
Result<T> decode(std::string_view what, std::string_view line, const Read& read) {
  if (line.size() > kMaxLineBytes)
    return malformed(what, line, fmt::format("longer than {} MiB", kMaxLineBytes >> 20U));
  if (json_too_deep(line)) return malformed(what, line, fmt::format("nested more than {} deep", kMaxJsonDepth));
  try {
    const json message = json::parse(line);
    if (!message.is_object()) return malformed(what, line, "not a JSON object");
    return read(message);
  } catch (const json::exception& error) {
    return malformed(what, line, error.what());
  }
}

Error error_from(const json& in) {
  Error error;
  error.kind = enum_value(kErrorKinds, in.at("kind").get<std::string>()).value_or(ErrorKind::kInternal);
  in.at("message").get_to(error.message);
  if (const auto it = in.find("context"); it != in.end()) it->get_to(error.context);
  return error;
}

json contender_json(const Contender& value) {
  return {{"variant", value.variant},
          {"plan", value.plan},
          {"build", value.build},
          {"baseline_algorithm", value.baseline_algorithm}};
}

Contender contender_from(const json& in) {
  Contender value;
  in.at("variant").get_to(value.variant);
  in.at("plan").get_to(value.plan);
  in.at("build").get_to(value.build);
  in.at("baseline_algorithm").get_to(value.baseline_algorithm);
  return value;
}

}  // namespace

std::string encode(const Request& request) {
  return one_line({{"id", request.id}, {"op", request.op}, {"body", request.body}});
}

std::string encode(const Reply& reply) {
  json message = {{"id", reply.id}, {"ok", reply.body.has_value()}};
  if (reply.body) {
    message["body"] = *reply.body;
  } else {
    const Error& error = reply.body.error();
    message["error"] = {
        {"kind", enum_name(kErrorKinds, error.kind)}, {"message", error.message}, {"context", error.context}};
  }
  if (reply.context_lost) message["context_lost"] = true;
  return one_line(message);
}

Result<Request> decode_request(std::string_view line) {
  return decode<Request>("request", line, [](const json& message) {
    return Request{message.at("id").get<RequestId>(), message.at("op").get<std::string>(),
                   message.value("body", json::object())};
  });
}

Result<Reply> decode_reply(std::string_view line) {
  return decode<Reply>("reply", line, [](const json& message) {
    Reply reply{message.at("id").get<RequestId>(), json(), message.value("context_lost", false)};
    if (message.at("ok").get<bool>()) {
      reply.body = message.at("body");
    } else {
      reply.body = tl::unexpected<Error>(error_from(message.at("error")));
    }
    return reply;
  });
}

void to_json(json& out, const Hello& value) {
  out = {{"protocol", value.protocol}, {"role", value.role}, {"nvrtc_version", value.nvrtc_version}};
  if (value.device) out["device"] = *value.device;
}

void from_json(const json& in, Hello& value) {
  in.at("protocol").get_to(value.protocol);
  in.at("role").get_to(value.role);
  in.at("nvrtc_version").get_to(value.nvrtc_version);
  value.device.reset();
  if (const auto it = in.find("device"); it != in.end()) value.device = it->get<DeviceInfo>();
}

void to_json(json& out, const PrepareRequest& value) {
  out = {{"problem", value.problem}, {"conditions", value.conditions}};
  if (value.known) {
    out["known"] = value.known->report;
    out["known"]["opaque"] = value.known->opaque;
  }
}

void from_json(const json& in, PrepareRequest& value) {
  in.at("problem").get_to(value.problem);
  in.at("conditions").get_to(value.conditions);
  value.known.reset();
  if (const auto it = in.find("known"); it != in.end())
    value.known = KnownBaseline{it->get<BaselineReport>(), it->at("opaque").get<std::vector<std::string>>()};
}

void to_json(json& out, const EnergyRequest& value) {
  out = {{"lead_in_s", value.lead_in_s},
         {"window_s", value.window_s},
         {"max_uncertainty", value.max_uncertainty},
         {"index", value.index}};
  if (value.contender) out["contender"] = contender_json(*value.contender);
}

void from_json(const json& in, EnergyRequest& value) {
  in.at("lead_in_s").get_to(value.lead_in_s);
  in.at("window_s").get_to(value.window_s);
  in.at("max_uncertainty").get_to(value.max_uncertainty);
  in.at("index").get_to(value.index);
  value.contender.reset();
  if (const auto it = in.find("contender"); it != in.end()) value.contender = contender_from(*it);
}

void to_json(json& out, const BuildRequest& value) {
  out = {{"id", value.id},
         {"variant", value.variant},
         {"source", value.source ? json(*value.source) : json(TemplateSource{})},
         {"defines", value.defines},
         {"architecture", value.architecture}};
}

void from_json(const json& in, BuildRequest& value) {
  in.at("id").get_to(value.id);
  in.at("variant").get_to(value.variant);
  value.source = std::make_shared<const TemplateSource>(in.at("source").get<TemplateSource>());
  in.at("defines").get_to(value.defines);
  in.at("architecture").get_to(value.architecture);
}

void to_json(json& out, const BuildDone& value) {
  out = {{"id", value.id}, {"outcome", value.outcome}, {"build", value.build}};
}

void from_json(const json& in, BuildDone& value) {
  in.at("id").get_to(value.id);
  in.at("outcome").get_to(value.outcome);
  in.at("build").get_to(value.build);
}

void to_json(json& out, const TrialRequest& value) {
  out = {{"id", value.id},       {"variant", value.variant},         {"plan", value.plan},
         {"build", value.build}, {"incumbent_s", value.incumbent_s}, {"launch_limit_s", value.launch_limit_s}};
}

void from_json(const json& in, TrialRequest& value) {
  in.at("id").get_to(value.id);
  in.at("variant").get_to(value.variant);
  in.at("plan").get_to(value.plan);
  in.at("build").get_to(value.build);
  in.at("incumbent_s").get_to(value.incumbent_s);
  value.launch_limit_s = in.value("launch_limit_s", 0.0);
}

void to_json(json& out, const TrialDone& value) { out = {{"id", value.id}, {"report", value.report}}; }

void from_json(const json& in, TrialDone& value) {
  in.at("id").get_to(value.id);
  in.at("report").get_to(value.report);
}

void to_json(json& out, const RoundRequest& value) {
  json contenders = json::array();
  for (const Contender& contender : value.contenders) contenders.push_back(contender_json(contender));
  out = {{"contenders", std::move(contenders)},
         {"order", value.order},
         {"round", value.round},
         {"stage", to_string(value.stage)},
         {"sample_s", value.sample_s}};
}

void from_json(const json& in, RoundRequest& value) {
  value.contenders.clear();
  for (const json& contender : in.at("contenders")) value.contenders.push_back(contender_from(contender));
  in.at("order").get_to(value.order);
  in.at("round").get_to(value.round);
  const json& stage = in.at("stage");
  const auto known = parse_stage(stage.get<std::string>());
  if (!known) throw json::other_error::create(501, fmt::format("unknown stage {}", stage.dump()), &stage);
  value.stage = *known;
  in.at("sample_s").get_to(value.sample_s);
}

void to_json(json& out, const RoundReport& value) {
  json samples = json::array();
  for (const std::optional<Sample>& sample : value.samples) samples.push_back(sample ? json(*sample) : json());
  out = {{"samples", std::move(samples)}, {"outcomes", value.outcomes}};
}

void from_json(const json& in, RoundReport& value) {
  value.samples.clear();
  for (const json& sample : in.at("samples"))
    value.samples.push_back(sample.is_null() ? std::nullopt : std::optional<Sample>(sample.get<Sample>()));
  in.at("outcomes").get_to(value.outcomes);
}

}  // namespace pgtune::protocol
