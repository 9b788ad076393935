// SPDX-License-Identifier: MIT
// The templates and operations of an export, from this build or the user's files, and the kinds of its kernels. A
// kernel is compiled for one kind: GEMM in some types with an epilogue, or an operation in a type. It computes all
// sizes that its template's rules allow, and no problem of another kind.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/export/callable_header.hpp"

namespace pgtune::tool {

/// Results go into content.templates and content.operations. Borrows its arguments.
class ExportSources {
 public:
  /// `template_selector`: a template's JSON by path, for results of it; or a name or nothing. `operation`: for results
  /// of it; null: those of built-in operations.
  ExportSources(const Catalogue& catalogue, const std::string& template_selector, const LoadedOperation* operation,
                CallableHeader& content)
      : catalogue_(catalogue), template_selector_(template_selector), operation_(operation), content_(content) {}

  /// A stored problem in terms of this build.
  struct Source {
    Problem problem;
    std::size_t template_number = 0;
  };
  /// For other operations than GEMM the problem is made again from its sizes, because a header must not trust
  /// operations from a database. Nothing, with a reason, if operation or template are missing here, or the operation
  /// has changed.
  [[nodiscard]] std::optional<Source> find(const Problem& stored, const std::string& template_name, std::string& why);

  /// The number of GEMM's template with this name; nothing if this build has none.
  [[nodiscard]] std::optional<std::size_t> template_number(const std::string& name);

 private:
  [[nodiscard]] const LoadedOperation* operation_of(const OperationProblem& problem, std::string& why);
  /// Nothing if the operation does not list it.
  [[nodiscard]] std::optional<std::size_t> template_number(const std::string& name, const Problem& problem,
                                                           const LoadedOperation& operation);
  [[nodiscard]] std::optional<std::size_t> known_template(const std::string& name, const std::string& operation) const;

  const Catalogue catalogue_;
  const std::string& template_selector_;
  const LoadedOperation* operation_;
  CallableHeader& content_;
  std::map<std::string, std::unique_ptr<const LoadedOperation>> built_in_;  ///< requested operations
};

/// Removes templates and operations without variants, such as those of results that were left out.
void drop_unused_sources(CallableHeader& content);

/// One problem of each kind (Problem::is_of_kind) among the export's variants, in the order of a header's numbers:
/// GEMM's first, then those of operations.
[[nodiscard]] std::vector<Problem> kinds_of(const CallableHeader& content);
/// Precondition: it is one of `kinds`.
[[nodiscard]] std::size_t kind_number(const std::vector<Problem>& kinds, const Problem& problem);

/// The kinds that programs call by the short form of their problems, and the others, which have their own calls.
[[nodiscard]] std::vector<Problem> gemm_kinds(const CallableHeader& content);
[[nodiscard]] std::vector<Problem> operation_kinds(const CallableHeader& content);
[[nodiscard]] bool has_gemms(const CallableHeader& content);
[[nodiscard]] std::vector<const ExportedEntry*> gemm_entries(const CallableHeader& content);
/// Entries of GEMMs come before those of operations.
[[nodiscard]] bool stands_before(const Problem& a, const Problem& b);

/// The number of content.entries[entry] in a program's order: all GEMMs, then each operation's in a type.
[[nodiscard]] std::size_t program_number(const CallableHeader& content, std::size_t entry);

/// A header's name for an operation in a type: "softmax_bf16".
[[nodiscard]] std::string kind_name(const Problem& problem);

}  // namespace pgtune::tool
