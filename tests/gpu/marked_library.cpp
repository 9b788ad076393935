// SPDX-License-Identifier: MIT
// A library with one function, whose answer tells builds of it apart.
extern "C" int mark();
int mark() { return PGTUNE_MARK; }
