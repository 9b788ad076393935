// SPDX-License-Identifier: MIT
// Parts of parse_operation. Private to tuner/operation.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/operation/operation_definition.hpp"
#include "tuner/template/known_names.hpp"
#include "tuner/template/template_parser.hpp"
#include "tuner/util/json_cursor.hpp"

namespace pgtune::operation {

using space::read_expressions;

/// The header that an operation's source includes to load and store elements; every worker contains it.
inline constexpr std::string_view kOperationHeader = "operation.cuh";

/// The word for the problem's own type or arithmetic.
inline constexpr std::string_view kDtypeWord = "dtype";

/// The templates' name for the alignment of a buffer's rows: "ALIGN_X".
[[nodiscard]] inline std::string alignment_name(const std::string& buffer) { return "ALIGN_" + buffer; }

/// The buffer's index; nothing if the name is no buffer's, which JsonCursor::choice() has reported.
[[nodiscard]] std::optional<std::size_t> place_of(const OperationDefinition& definition, std::string_view name);
/// The buffer that `cursor` names, which must be one of those for which `may_be` holds; a problem otherwise.
template <typename Predicate>
[[nodiscard]] std::optional<std::size_t> buffer_at(const JsonCursor& cursor, const OperationDefinition& definition,
                                                   Predicate may_be) {
  std::vector<std::string_view> words;
  for (const BufferSpec& buffer : definition.buffers) {
    if (may_be(buffer)) words.push_back(buffer.name);
  }
  return place_of(definition, cursor.choice(words));
}
/// Bytes: a power of two up to 256.
[[nodiscard]] std::int64_t read_alignment(const JsonCursor& cursor);
/// Reads a kernel of the reference, or one that fills buffers. `definition` must have its buffers' names.
[[nodiscard]] ReferenceKernelSpec read_kernel(const JsonCursor& cursor, const space::KnownNames& names,
                                              const OperationDefinition& definition, bool is_fill);

/// The cursor's JsonProblems collects problems. `definition` must have its dtypes, dimensions and scalars.
void read_buffers(const JsonCursor& root, space::KnownNames& names, OperationDefinition& definition);
/// Appends arrays of pointers to the buffers, by name only: kernels that fill a buffer may take them as arguments.
void announce_pointers(const JsonCursor& root, OperationDefinition& definition);
/// Precondition: the pointers were announced, and the buffers read.
void read_pointers(const JsonCursor& root, space::KnownNames& names, OperationDefinition& definition);
/// `definition` has its buffers too.
void read_reference(const JsonCursor& root, const space::KnownNames& names, OperationDefinition& definition);

/// `definition` has its dimensions.
void read_lesser(const JsonCursor& root, const space::KnownNames& names, OperationDefinition& definition);

/// Whether a buffer has the type of a product's right factor or result.
[[nodiscard]] bool speaks_of_products(const JsonCursor& root);

/// `definition` has its buffers too.
void read_cases(const JsonCursor& root, const space::KnownNames& names, OperationDefinition& definition);

/// Registers the names of counts, before anything that could use them.
void announce_counts(const JsonCursor& root, space::KnownNames& names);
/// Counts, flops and bytes. `definition` has its buffers too, and the counts were announced.
void read_work(const JsonCursor& root, const space::KnownNames& names, OperationDefinition& definition);

/// `definition` has its buffers too.
void read_baselines(const JsonCursor& root, OperationDefinition& definition);

}  // namespace pgtune::operation
