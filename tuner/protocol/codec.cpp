// SPDX-License-Identifier: MIT
#include "tuner/protocol/codec.hpp"

#include <fmt/format.h>

#include <utility>

#include "tuner/util/json_depth.hpp"
#include "tuner/util/named_enum.hpp"

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

constexpr const char* kBaselineAlgorithm = "baseline_algorithm";

}  // namespace

void to_json(json& json, const BuiltContender& value) {
  if (const BaselineAlgorithm* const algorithm = algorithm_of(value)) {
    json = {{kBaselineAlgorithm, algorithm->index}};
  } else {
    json = *variant_of(value);
  }
}

void from_json(const json& json, BuiltContender& value) {
  if (const auto algorithm = json.find(kBaselineAlgorithm); algorithm != json.end()) {
    value = BaselineAlgorithm{algorithm->get<int>()};
  } else {
    value = json.get<BuiltVariant>();
  }
}

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

}  // namespace pgtune::protocol
