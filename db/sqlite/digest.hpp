// SPDX-License-Identifier: MIT
// One hash over many pieces of text: equal digests stand for equal content.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace pgtune::db {

/// XXH3 of 128 bits.
class Digest {
 public:
  Digest();
  /// Boundaries between pieces count: "ab" and "c" differ from "a" and "bc".
  void add(std::string_view piece);
  /// 32 hexadecimal digits of what was added so far.
  [[nodiscard]] std::string text() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

}  // namespace pgtune::db
