/* SPDX-License-Identifier: MIT
 * What C programs that call an exported library say of each call. */
#ifndef PGTUNE_TESTS_EXPORTED_CHECK_H
#define PGTUNE_TESTS_EXPORTED_CHECK_H

#include <stdint.h>
#include <stdio.h>

static int failures = 0;

#define CHECK(condition)                              \
  do {                                                \
    if (!(condition)) {                               \
      ++failures;                                     \
      printf("line %d: %s\n", __LINE__, #condition);  \
    }                                                 \
  } while (0)

/* Of the fake driver. */
void* fake_stream(int device, int own);

static void* at(uintptr_t address) { return (void*)address; }

#endif
