// SPDX-License-Identifier: MIT
// Operations on disk.
#include "tuner/operation/operation_definition.hpp"
#include "tuner/template/template_files.hpp"

namespace pgtune::operation {

Result<OperationDefinition> load_operation(const std::filesystem::path& json_path) {
  auto text = space::read_text_file(json_path);
  if (!text) return fail(std::move(text.error()), "reading the operation");
  space::TemplateFolder folder(json_path.parent_path());
  return parse_operation(*text, json_path.string(), [&](const std::string& relative) { return folder.read(relative); });
}

}  // namespace pgtune::operation
