// SPDX-License-Identifier: MIT
// What the template of an operation may name of it.
#pragma once

#include <string>
#include <vector>

#include "tuner/model/dtype.hpp"
#include "tuner/model/element_type.hpp"

namespace pgtune::space {

/// Of an operation other than GEMM. Values of the names are in its OperationProblem, in the same order.
struct OperationInterface {
  std::string name;
  std::vector<Dtype> dtypes;       ///< empty: its types do not depend on one
  std::vector<std::string> names;  ///< that expressions may use: sizes, derived values, ALIGN_X of each buffer X
  std::vector<std::string> buffers, scalars;
  std::vector<std::string> pointers;  ///< buffers that hold addresses
};

}  // namespace pgtune::space
