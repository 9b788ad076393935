// SPDX-License-Identifier: MIT
// In place of the header of this name.
#pragma once

#include "float16.hpp"
