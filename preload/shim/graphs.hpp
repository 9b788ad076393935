// SPDX-License-Identifier: MIT
// Calls that became part of CUDA graphs run when these are launched. The runtime library's functions tell which graph
// an executable one was made of; programs linked to it statically are not seen.
#pragma once

#include "preload/shim/abi.hpp"
#include "preload/shim/ledger_format.hpp"

namespace pgtune::preload {

/// A graph in the making. Its address may be used again for a later one, its number is not.
struct Capture {
  void* graph = nullptr;
  std::uint64_t id = 0;
};

/// Whether work on the stream becomes part of a graph, or that cannot be known.
bool is_capturing(Stream stream, Capture& capture);
/// One call of the slot's key is part of it.
void add_to_graph(const Capture& capture, Slot& slot);
/// `executable` is now made of the graph. Precondition: that succeeded. The graph's calls pass on to it, so that a
/// second one made of the same graph counts none.
void instantiate(void* executable, void* graph);
void forget_graph(void* graph);
/// Counts the calls of an executable graph that is launched.
void launch(void* executable);

void forget_graphs();

}  // namespace pgtune::preload
