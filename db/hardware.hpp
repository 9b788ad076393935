// SPDX-License-Identifier: MIT
// Device classes of files in which devices are known by their description alone.
#pragma once

#include "db/database.hpp"

namespace pgtune::db {

/// Adds pgtune_hardware(uuid, name, info_json) to the connection: DeviceClass::hardware() of the device that the JSON
/// describes. A description that cannot be read makes a class that has this board alone.
void add_hardware_function(const Database& database);

}  // namespace pgtune::db
