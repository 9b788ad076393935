// SPDX-License-Identifier: MIT
// What a process under sanitizers cannot do without: tests that take it away are skipped there.
#pragma once

#include <gtest/gtest.h>

/// UndefinedBehaviorSanitizer asks a pipe whether an address can be read: without descriptors it finds fault with any.
/// LeakSanitizer starts a thread at the end, which a limit of processes forbids.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PGTUNE_NEEDS_NO_SANITIZER GTEST_SKIP() << "the sanitizers need descriptors and threads of their own"
#endif
#endif
#ifndef PGTUNE_NEEDS_NO_SANITIZER
#define PGTUNE_NEEDS_NO_SANITIZER static_cast<void>(0)
#endif
