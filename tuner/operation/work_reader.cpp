// SPDX-License-Identifier: MIT
// Reads the flops and bytes of a launch of an operation, and the counts that these take from the data.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tuner/expression/affine.hpp"
#include "tuner/operation/operation_reader.hpp"
#include "tuner/util/caret.hpp"

namespace pgtune::operation {
namespace {

using space::KnownNames;
using space::NameKind;
using space::Reach;

/// An integer buffer that launches do not write: its content is known when a launch is timed.
bool is_countable(const BufferSpec& buffer) {
  return buffer.role == BufferRole::kIn && !buffer.pointers && buffer.type && traits(*buffer.type).is_integer();
}

CountSpec read_count(const JsonCursor& cursor, const KnownNames& names, const OperationDefinition& definition) {
  cursor.expect_fields({"name", "count", "buffer", "bound", "expected"});
  CountSpec out;
  out.name = cursor.required("name").string();
  out.kind = cursor.required("count").choice_of<CountKind>();
  const JsonCursor of = cursor.required("buffer");
  if (std::none_of(definition.buffers.begin(), definition.buffers.end(), is_countable)) {
    of.problem("counts are of inputs of type int8 or int32 that launches leave alone, and this operation has none");
  } else if (const auto found = buffer_at(of, definition, is_countable)) {
    out.buffer = *found;
    const BufferSpec& buffer = definition.buffers[*found];
    if (out.kind == CountKind::kIncreases && buffer.extents.size() != 1)
      of.problem(fmt::format("'{}' has several dimensions, so that no element of it follows another", buffer.name));
  }
  if (out.kind == CountKind::kAbove) {
    out.bound = names.read(cursor.required("bound"), Reach::kProblem);
  } else if (const auto bound = cursor.optional("bound")) {
    bound->problem("it belongs to the count above");
  }
  out.expected = names.read(cursor.required("expected"), Reach::kProblem);
  return out;
}

space::Expression read_affine(const JsonCursor& cursor, const KnownNames& names, const std::set<std::string>& counts) {
  space::Expression out = names.read(cursor, Reach::kCounts);
  const auto offending = name_not_affine(out, counts);
  if (!offending) return out;
  const auto at = std::find(out.names().begin(), out.names().end(), *offending) - out.names().begin();
  cursor.problem(with_caret(fmt::format("'{}' is counted in the data: it may be added, and multiplied by what no count "
                                        "is in, and nothing else",
                                        *offending),
                            out.text(), out.name_position(static_cast<std::size_t>(at))));
  return out;
}

}  // namespace

void announce_counts(const JsonCursor& root, KnownNames& names) {
  for (const JsonCursor& element : root.optional_elements("counts", kMaxCounts)) {
    const JsonCursor name = element.required("name");
    names.add(name.string(), NameKind::kCount, name);
  }
}

void read_work(const JsonCursor& root, const KnownNames& names, OperationDefinition& definition) {
  std::set<std::string> counts;
  for (const JsonCursor& element : root.optional_elements("counts", kMaxCounts)) {
    definition.counts.push_back(read_count(element, names, definition));
    counts.insert(definition.counts.back().name);
  }
  definition.flops = read_affine(root.required("flops"), names, counts);
  definition.bytes = read_affine(root.required("bytes"), names, counts);
}

}  // namespace pgtune::operation
