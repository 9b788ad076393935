// SPDX-License-Identifier: MIT
// The library that --verify calls, called for the first entries, as many as the argument says: each is found under its
// number, and launches something.
#include <cstdlib>

#include "tests/exported/programs/check.hpp"

extern "C" {
int pgtune_consumer_prepare(int device);
int pgtune_consumer_select(int entry, int device, void** pointers, const float* scalars, std::size_t* bytes);
int pgtune_consumer_run(void** pointers, const float* scalars, void* workspace, std::size_t bytes, void* stream);
}

int main(int, char** arguments) {
  const int count = std::atoi(arguments[1]);
  void* pointers[16];
  for (std::size_t i = 0; i < 16; ++i) pointers[i] = at(0x10000000 * (i + 1));
  const float scalars[] = {1, 0, 0, 0};
  std::size_t bytes = 0;
  void* const workspace = at(0x900000000);
  CHECK(pgtune_consumer_run(pointers, scalars, workspace, 0, stream_of<void*>(0)) != 0);
  CHECK(pgtune_consumer_prepare(0) == 0);
  for (int entry = 0; entry < count; ++entry) {
    const int launches = fake().launches;
    const int status = pgtune_consumer_select(entry, 0, pointers, scalars, &bytes);
    if (status != 0) std::printf("entry %d: %d\n", entry, status);
    CHECK(status == 0);
    CHECK(pgtune_consumer_run(pointers, scalars, workspace, bytes, stream_of<void*>(0)) == 0);
    CHECK(fake().launches > launches);
  }
  CHECK(pgtune_consumer_select(count, 0, pointers, scalars, &bytes) > 0);
  CHECK(pgtune_consumer_select(-1, 0, pointers, scalars, &bytes) > 0);
  return failures == 0 ? 0 : 1;
}
