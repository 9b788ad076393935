// SPDX-License-Identifier: MIT
// A small chain of two products, and made-up variants of its steps.
#pragma once

#include <vector>

#include "tuner/protocol/chain_messages.hpp"

namespace pgtune::device::test {

/// Y = (X * V) * W: "up" writes what "down" reads, and may overlap it.
inline Chain two_products(std::int64_t rows = 16) {
  const auto product = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return with_default_strides({.m = m, .n = n, .k = k, .dtype = Dtype::kBf16}).value();
  };
  const Problem up = product(rows, 128, 64), down = product(rows, 64, 128);
  const auto bytes = [](std::int64_t elements) { return 2 * elements; };
  Chain chain{"two", {{"T", rows}}, {}, {}};
  chain.buffers = {{"between", bytes(rows * 128)},
                   {"up.A", bytes(rows * 64)},
                   {"up.B", bytes(std::int64_t{64} * 128)},
                   {"down.B", bytes(std::int64_t{128} * 64)},
                   {"down.D", bytes(rows * 64)}};
  chain.steps = {{"up", up, {1, 2, 0}, false}, {"down", down, {0, 3, 4}, true}};
  return chain;
}

/// Of two_products(); the second step has one that overlaps where `overlapping`.
inline std::vector<protocol::ChainKernel> kernels_of_two_products(bool overlapping = true) {
  const auto built = [](std::int64_t tile) { return protocol::BuiltVariant{{"fake", {{"BM", tile}}}, {}, {}}; };
  std::vector<protocol::ChainKernel> kernels{{built(64), std::nullopt}, {built(128), std::nullopt}};
  if (overlapping) kernels[1].overlapping = built(256);
  return kernels;
}

}  // namespace pgtune::device::test
