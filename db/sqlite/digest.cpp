// SPDX-License-Identifier: MIT
#include "db/sqlite/digest.hpp"

#include <xxhash.h>

#include <array>
#include <cstdio>
#include <new>

namespace pgtune::db {

void Digest::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

Digest::Digest() : state_(XXH3_createState()) {
  if (!state_) {
    throw std::bad_alloc();
  }
  XXH3_128bits_reset(state_.get());
}

void Digest::add(std::string_view piece) {
  XXH3_128bits_update(state_.get(), piece.data(), piece.size());
  const char end = '\0';
  XXH3_128bits_update(state_.get(), &end, 1);
}

std::string Digest::text() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
  std::array<char, 33> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return digits.data();
}

}  // namespace pgtune::db
