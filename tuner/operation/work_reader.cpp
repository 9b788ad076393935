// SPDX-License-Identifier: MIT
// Reads the flops and bytes of a launch of an operation, and the counts that these take from the data.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "tuner/expression/affine.hpp"
#include "tuner/operation/operation_reader.hpp"
#include "tuner/util/caret.hpp"

namespace pgtune::operation {
namespace {

using space::KnownNames;
using space::NameKind;
using space::Reach;

constexpr std::array kCountKinds{CountKind::kSum, CountKind::kAbove, CountKind::kNonzero, CountKind::kIncreases,
                                 CountKind::kMax};

/// The integer buffers that launches do not write: their content is known when a launch is timed.
std::vector<std::string_view> countable(const OperationDefinition& definition) {
  std::vector<std::string_view> out;
  for (const BufferSpec& buffer : definition.buffers) {
    if (buffer.role == BufferRole::kIn && !buffer.pointers && buffer.type && traits(*buffer.type).is_integer())
      out.push_back(buffer.name);
  }
  return out;
}

CountSpec read_count(const JsonCursor& cursor, const KnownNames& names, const OperationDefinition& definition) {
  cursor.expect_fields({"name", "count", "buffer", "bound", "expected"});
  CountSpec out;
  out.name = cursor.required("name").string();
  std::vector<std::string_view> words;
  for (const CountKind kind : kCountKinds) words.push_back(to_string(kind));
  out.kind = enumerator_of<CountKind>(cursor.required("count").choice(words)).value_or(out.kind);
  const JsonCursor of = cursor.required("buffer");
  const std::vector<std::string_view> buffers = countable(definition);
  if (buffers.empty()) {
    of.problem("counts are of inputs of type int8 or int32 that launches leave alone, and this operation has none");
  } else {
    const std::string name = of.choice(buffers);
    const auto found = std::find_if(definition.buffers.begin(), definition.buffers.end(),
                                    [&](const BufferSpec& buffer) { return buffer.name == name; });
    if (found != definition.buffers.end()) {
      out.buffer = static_cast<std::size_t>(found - definition.buffers.begin());
      if (out.kind == CountKind::kIncreases && found->extents.size() != 1)
        of.problem(fmt::format("'{}' has several dimensions, so that no element of it follows another", name));
    }
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
