// SPDX-License-Identifier: MIT
// Macros that turn other macros into text of an instruction and into parts of names.
#pragma once

#define PGTUNE_TEXT_OF(x) #x
#define PGTUNE_TEXT(x) PGTUNE_TEXT_OF(x)
#define PGTUNE_PASTE_OF(x, y) x##y
#define PGTUNE_PASTE(x, y) PGTUNE_PASTE_OF(x, y)
