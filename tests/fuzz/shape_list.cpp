// SPDX-License-Identifier: MIT
// A file of shapes.
#include "tool/pgtune/cli/options/shape_list.hpp"

#include <cstdlib>

#include "tests/fuzz/targets.hpp"
#include "tool/pgtune/cli/command_error.hpp"

namespace pgtune::fuzz {

void shape_list(std::string_view bytes) {
  try {
    for (const tool::ListedShape& shape : tool::parse_shape_list(bytes, "shapes.txt")) {
      for (const char* layout : {"nn", "tt"}) {
        Problem listed = shape.problem;
        listed.dtype = shape.dtype.value_or(Dtype::kF32);
        listed.output = shape.output;
        listed.epilogue = shape.epilogue.value_or(Epilogue{});
        const auto problem = with_layout(listed, layout).and_then(with_default_strides);
        if (!problem) continue;
        if (problem->key().empty() || problem->title().empty() || problem->operand_bytes() <= 0) std::abort();
      }
    }
  } catch (const tool::CommandError&) {
    // How the tool refuses.
  }
}

}  // namespace pgtune::fuzz
