// SPDX-License-Identifier: MIT
// Reads an operation's arrays of pointers.
#include <fmt/format.h>

#include <algorithm>

#include "tuner/operation/operation_reader.hpp"
#include "tuner/util/identifier.hpp"

namespace pgtune::operation {
namespace {

using space::KnownNames;
using space::NameKind;
using space::Reach;

/// The number that fits with the buffers.
std::vector<JsonCursor> elements_of(const JsonCursor& root, const OperationDefinition& definition) {
  const auto buffers = static_cast<std::size_t>(std::count_if(definition.buffers.begin(), definition.buffers.end(),
                                                              [](const BufferSpec& spec) { return !spec.pointers; }));
  std::vector<JsonCursor> elements = root.optional_elements("pointers", kMaxBuffers);
  if (buffers + elements.size() > kMaxBuffers)
    root.required("pointers")
        .problem(fmt::format("buffers and arrays of pointers are {} at most, not {}", kMaxBuffers,
                             buffers + elements.size()));
  return elements;
}

void check_name(const JsonCursor& cursor, std::size_t index, const OperationDefinition& definition) {
  const std::string& name = definition.buffers[index].name;
  if (!is_identifier(name)) cursor.problem(fmt::format("'{}' cannot be the name of pointers", name));
  if (name == "workspace") cursor.problem("'workspace' is what templates call their own memory");
  for (std::size_t i = 0; i < index; ++i) {
    if (definition.buffers[i].name == name)
      cursor.problem(fmt::format("'{}' is a buffer or an array of pointers already", name));
  }
}

BufferSpec read_array(const JsonCursor& cursor, const KnownNames& names, const OperationDefinition& definition,
                      BufferSpec out) {
  cursor.expect_fields({"name", "buffer", "count", "offset", "align"});
  PointerSpec pointers = *out.pointers;
  out.extents.push_back(names.read(cursor.required("count"), Reach::kProblem));
  const auto has_elements = [](const BufferSpec& buffer) { return !buffer.pointers; };
  if (const auto found = buffer_at(cursor.required("buffer"), definition, has_elements)) {
    pointers.buffer = *found;
    out.type = definition.buffers[*found].type;
    out.part = definition.buffers[*found].part;
  }
  const JsonCursor offset = cursor.required("offset");
  KnownNames with_index = names;
  with_index.add(kPointerIndex, NameKind::kValue, offset);
  pointers.offset = with_index.read(offset, Reach::kProblem);
  if (const auto align = cursor.optional("align")) pointers.alignment = read_alignment(*align);
  out.pointers = std::move(pointers);
  return out;
}

}  // namespace

void announce_pointers(const JsonCursor& root, OperationDefinition& definition) {
  for (const JsonCursor& element : elements_of(root, definition)) {
    BufferSpec& array = definition.buffers.emplace_back();
    array.name = element.required("name").string();
    array.alignment = kPointerBytes;
    array.fill = FillKind::kPointers;
    array.pointers.emplace();
  }
}

void read_pointers(const JsonCursor& root, KnownNames& names, OperationDefinition& definition) {
  const std::vector<JsonCursor> elements = elements_of(root, definition);
  std::size_t index = definition.buffers.size() - elements.size();
  for (const JsonCursor& element : elements) {
    check_name(element.required("name"), index, definition);
    BufferSpec& array = definition.buffers[index];
    array = read_array(element, names, definition, array);
    names.add(alignment_name(array.name), NameKind::kDerived, element);
    ++index;
  }
}

}  // namespace pgtune::operation
