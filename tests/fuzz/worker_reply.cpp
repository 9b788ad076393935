// SPDX-License-Identifier: MIT
// What a worker may say, as pgtune reads it. The first byte chooses nothing: every line is tried as every body.
#include <cstdlib>

#include "tests/fuzz/targets.hpp"
#include "tuner/protocol/codec.hpp"

namespace pgtune::fuzz {
namespace {

/// What is understood must be sayable, and then be understood again.
template <typename T>
void try_body(const nlohmann::json& body) {
  const auto decoded = protocol::decode_body<T>(body, "body");
  if (!decoded) return;
  const auto encoded = protocol::encode(protocol::Reply{1, nlohmann::json(*decoded), false});
  const auto again = protocol::decode_reply(encoded);
  if (!again || !again->body) std::abort();
  static_cast<void>(protocol::decode_body<T>(*again->body, "body"));
}

}  // namespace

void worker_reply(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
    const auto reply = protocol::decode_reply(line);
    if (!reply) continue;
    if (!protocol::decode_reply(protocol::encode(*reply))) std::abort();
    if (!reply->body) continue;
    try_body<protocol::Hello>(*reply->body);
    try_body<protocol::BuildDone>(*reply->body);
    try_body<protocol::TrialDone>(*reply->body);
    try_body<protocol::RoundReport>(*reply->body);
    try_body<BaselineReport>(*reply->body);
    try_body<EnergyWindow>(*reply->body);
    try_body<Ceilings>(*reply->body);
    try_body<DeviceInfo>(*reply->body);
  }
}

}  // namespace pgtune::fuzz
