// SPDX-License-Identifier: MIT
#include "db/hardware.hpp"

#include <sqlite3.h>

#include <string>

#include "db/sqlite/sqlite_error.hpp"
#include "tuner/model/device_class.hpp"
#include "tuner/model/json.hpp"
#include "tuner/util/json_reader.hpp"

namespace pgtune::db {
namespace {

std::string text_of(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

void hardware_of_arguments(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  DeviceInfo device;
  if (auto described = read_untrusted_json<DeviceInfo>(text_of(values[2]))) {
    device = std::move(*described);
  } else {
    device.name = text_of(values[1]);
  }
  device.uuid = text_of(values[0]);
  const std::string hardware = device_class(device).hardware();
  sqlite3_result_text(context, hardware.c_str(), static_cast<int>(hardware.size()), SQLITE_TRANSIENT);
}

}  // namespace

void add_hardware_function(const Database& database) {
  constexpr int kArguments = 3;
  if (sqlite3_create_function_v2(database.handle(), "pgtune_hardware", kArguments,
                                 SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nullptr, hardware_of_arguments,
                                 nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw_sqlite_error(database.handle(), database.origin());
  }
}

}  // namespace pgtune::db
