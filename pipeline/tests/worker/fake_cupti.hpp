// SPDX-License-Identifier: MIT
// What the tests and the library that pretends to be CUPTI share. The library's function fake_cupti() has its state.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace pgtune::gpu::test {

struct FakeCupti {
  std::map<std::string, int> status;  ///< what a function comes back with instead of doing anything
  std::set<std::uint32_t> enabled;    ///< kinds
  std::vector<std::string> calls;     ///< functions, with the kind where they have one
  std::size_t dropped = 0;
  std::uint64_t now_ns = 0;
  std::vector<std::vector<std::uint8_t>> records;  ///< that the next flush hands out, three a buffer
  int buffers = 0;                                 ///< that were asked for
};

using FakeCuptiOf = FakeCupti*();

}  // namespace pgtune::gpu::test
