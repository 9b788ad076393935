// SPDX-License-Identifier: MIT
// The JSON lines between pgtune and pgtune-worker. One request line, one reply line, matched by "id"; large things
// (cubins) pass as paths. Parent to worker: {"id":1,"op":"hello"|"build"|"prepare"|"trial"|"round", "body":{...}}.
// Worker to parent: {"id":1,"ok":true,"body":{...}} or {"id":1,"ok":false,"error":{"kind","message","context"}}.
// A reply with "context_lost": true means the CUDA context is poisoned: the worker exits after it.
//
//   op       request body            reply body        role
//   hello    {"protocol": 7}         Hello             both, always the first request
//   build    BuildRequest            BuildDone         compile
//   prepare  PrepareRequest          BaselineReport    measure
//   trial    TrialRequest            TrialDone         measure
//   launch   LaunchRequest           LaunchReport      measure; once, for a profiler: neither checked nor timed
//   round    RoundRequest            RoundReport       measure
//   verify   VerifyRequest           VerifyReport      measure
//   energy   EnergyRequest           EnergyWindow      measure
//   ceilings {}                      Ceilings          measure
//   check    ConsumerRequest         ConsumerReport    consumer
//   rows     RowsRequest             RowsReport        consumer
//
// The reply to "prepare" may have one more field, "opaque". The worker that takes a dead one's place then gets the
// whole reply back as "known" in its PrepareRequest and takes the baseline over instead of looking for it again.
//
// A variant's fate is an outcome in the reply body. "ok": false is for what is not the variant's fault: kind
// "environment" ends the session (for "energy" and "ceilings": this GPU cannot measure them), "usage" (a problem too
// large for the memory) and "internal" say that the request was wrong. A worker reads one request at a time, answers
// it, and ends when its standard input ends. Its standard output carries replies only; the end of its standard error
// becomes the reason when it dies.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "tuner/model/json.hpp"
#include "tuner/protocol/messages.hpp"

namespace pgtune::protocol {

/// Bumped with every incompatible change; both sides compare it in "hello".
inline constexpr int kProtocolVersion = 8;

/// A line longer than this ends the worker as misbehaving.
inline constexpr std::size_t kMaxLineBytes = 64U << 20;

struct Request {
  RequestId id = 0;
  std::string op;
  nlohmann::json body;
};

struct Reply {
  RequestId id = 0;
  Result<nlohmann::json> body;
  bool context_lost = false;
};

/// One line, without the newline.
[[nodiscard]] std::string encode(const Request& request);
[[nodiscard]] std::string encode(const Reply& reply);
/// Errors say what is malformed; no exception escapes.
[[nodiscard]] Result<Request> decode_request(std::string_view line);
[[nodiscard]] Result<Reply> decode_reply(std::string_view line);

// Found where a message that holds one is written or read.
void to_json(nlohmann::json& json, const BuiltContender& value);
void from_json(const nlohmann::json& json, BuiltContender& value);

/// A message body as the type it should hold; errors name it as `what`.
template <typename T>
[[nodiscard]] Result<T> decode_body(const nlohmann::json& body, const std::string& what) {
  try {
    return body.get<T>();
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorKind::kInternal, "malformed " + what + ": " + error.what());
  }
}

/// What a worker is and can do. "device" is absent for the compile role.
struct Hello {
  int protocol = kProtocolVersion;
  std::string role;  ///< "compile" or "measure"
  std::string nvrtc_version;
  std::optional<DeviceInfo> device;

  PGTUNE_FIELDS(protocol, role, nvrtc_version, device)
};

}  // namespace pgtune::protocol
