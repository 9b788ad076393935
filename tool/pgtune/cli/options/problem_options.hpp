// SPDX-License-Identifier: MIT
// The options that say which problems: --shape, --shapes, --dtype, --out, --layout, --epilogue and the rest of GEMM,
// and --operation, --size, --sizes of another operation.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/cli/command_line.hpp"
#include "tool/pgtune/cli/options/shape_list.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::tool {

class ProblemOptions {
 public:
  /// Binds the options to this object, which must outlive the parse.
  void add_to(CommandLine& app);
  /// Those of GEMM alone, for commands that know no other operation.
  void add_gemm_to(CommandLine& app);
  /// The operation that --operation names; null for GEMM.
  [[nodiscard]] const LoadedOperation* operation() const;
  /// The templates that --template `selector` means for one of problems().
  [[nodiscard]] space::TemplateSet templates_for(const Catalogue& catalogue, const std::string& selector,
                                                 const Problem& problem) const;

  [[nodiscard]] bool any_shape() const {
    return !shapes_.empty() || !shapes_file_.empty() || !sizes_.empty() || !sizes_file_.empty();
  }
  /// The problems asked for, each once, in the order given. Throws CommandError (usage): no shape, or what is wrong
  /// with one, with the line number where it came from a file.
  [[nodiscard]] std::vector<Problem> problems() const;
  /// The same, with `default_shape` where no shape is given: the other options apply to it.
  [[nodiscard]] std::vector<Problem> problems(std::string_view default_shape) const;
  /// Those of a file as --shapes takes, which another option names: options of a problem say what its lines leave out.
  /// Throws CommandError (usage) as problems().
  [[nodiscard]] std::vector<Problem> problems_of_file(const std::string& file) const;
  /// An option given that changes nothing because no shape is, such as "--layout"; empty where there is none.
  [[nodiscard]] std::string option_without_shape() const;

 private:
  /// With the options; types, layout and so on that a file says beside the shape come first.
  [[nodiscard]] Problem complete(const ListedShape& shape) const;
  void add_operation_to(CommandLine& app);
  [[nodiscard]] std::vector<Problem> operation_problems() const;

  Option dtype_option_;
  std::vector<Option> options_;  ///< all of GEMM but --shape and --shapes
  std::vector<std::string> shapes_;
  std::string shapes_file_;
  std::string operation_name_, sizes_file_;
  std::vector<std::string> sizes_;
  mutable std::unique_ptr<LoadedOperation> operation_;  ///< once it was asked for
  bool chained_ = false;
  std::string dtype_ = "f32", output_, layout_ = "nn", epilogue_ = "none";
  std::string batch_ = "1", alpha_ = "1", beta_ = "0", lda_ = "0", ldb_ = "0", ldc_ = "0";
};

/// The options that ask for `problem`, as words for a shell: "--shape 512x512x512 --dtype bf16". An operation that is
/// not built in is kNobodysFile. `selector`: what --template says, as by Catalogue::selector_of(); empty: it is not
/// there.
[[nodiscard]] std::string problem_options_text(const Problem& problem, const std::string& selector = {});

/// A problem as a line of a file of shapes or sizes, and the option that takes the file. What a line does not say
/// (leading dimensions, scalars, an operation and its dtype) is said by other options.
struct ListedProblem {
  std::string option, line;
};
[[nodiscard]] ListedProblem listed(const Problem& problem);

}  // namespace pgtune::tool
