// SPDX-License-Identifier: MIT
// Roles that tests of rooms add to the fake worker.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tuner/protocol/codec.hpp"

namespace pgtune::device::fake {

struct RoomRole {
  /// What a request is about, for the log and for PGTUNE_FAKE.
  std::function<std::string(const protocol::Request& request)> key;
  /// Requests other than "hello"; `behaviour` is PGTUNE_FAKE's, or empty.
  std::function<Result<nlohmann::json>(const protocol::Request& request, const std::string& behaviour)> answer;
};

/// By name. All have a GPU.
using RoomRoles = std::map<std::string, RoomRole>;

/// Of the rooms that this program was built with: generated (cmake/Rooms.cmake).
[[nodiscard]] RoomRoles rooms();

}  // namespace pgtune::device::fake
