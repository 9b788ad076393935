// SPDX-License-Identifier: MIT
// Templates that pgtune ships, and problems for tests of their spaces.
#pragma once

#include <string>
#include <string_view>

#include "tuner/model/problem.hpp"
#include "tuner/template/template_definition.hpp"

namespace pgtune::space::testing {

/// configs/<name>.json, without its source's headers: good for its space only.
inline TemplateDefinition shipped_template(const std::string& name) {
  return load_template(PGTUNE_SOURCE_DIR "/configs/" + name + ".json", {}).value();
}

inline Problem shaped_problem(Dtype dtype, Problem shape, std::string_view layout) {
  shape.dtype = dtype;
  return with_default_strides(with_layout(shape, layout).value()).value();
}

}  // namespace pgtune::space::testing
