// SPDX-License-Identifier: MIT
// The parts of an operation that its templates may name.
#pragma once

#include <string>
#include <vector>

#include "tuner/model/dtype.hpp"
#include "tuner/model/element_type.hpp"

namespace pgtune::space {

/// For an operation other than GEMM. Its OperationProblem has the names' values, in the same order.
struct OperationInterface {
  std::string name;
  std::vector<Dtype> dtypes;       ///< empty: its types do not depend on one
  std::vector<std::string> names;  ///< for expressions: sizes, derived values, ALIGN_X of each buffer X
  std::vector<std::string> buffers, scalars;
  std::vector<std::string> pointers;  ///< buffers that hold addresses
};

}  // namespace pgtune::space
