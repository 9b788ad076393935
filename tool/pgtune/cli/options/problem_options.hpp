// SPDX-License-Identifier: MIT
// The options that select problems: --shape, --shapes, --dtype, --out, --layout, --epilogue and the others for GEMM,
// and --operation, --size, --sizes for another operation.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tool/pgtune/cli/catalogue.hpp"
#include "tool/pgtune/cli/command_line.hpp"
#include "tool/pgtune/cli/options/shape_list.hpp"
#include "tuner/model/family.hpp"
#include "tuner/model/problem.hpp"

namespace pgtune::tool {

/// A problem, or with `first_m` a range of M whose largest it has.
struct RequestedShape {
  Problem problem;
  std::optional<std::int64_t> first_m = {};
  std::optional<double> weight = {};  ///< of a line that has one: its share of the list's time, of equal lines the sum
  std::string place = {};             ///< the file and line that it stands in, as messages begin; of an option empty

  /// "1..8192x4096x4096 bf16 nt".
  [[nodiscard]] std::string title() const;
  /// Whether it is the problem, or a range of M that has it.
  [[nodiscard]] bool includes(const Problem& other) const;
  /// Whether the family serves it, or some M of it.
  [[nodiscard]] bool meets(const Family& family) const;
};

class ProblemOptions {
 public:
  /// Binds the options to this object, which must outlive the parse.
  void add_to(CommandLine& app);
  /// Only those of a plain product D = A B: its shape, types and layout.
  void add_product_to(CommandLine& app);
  /// The operation that --operation names; null for GEMM.
  [[nodiscard]] const LoadedOperation* operation() const;
  /// The templates that --template `selector` means for one of problems().
  [[nodiscard]] space::TemplateSet templates_for(const Catalogue& catalogue, const std::string& selector,
                                                 const Problem& problem) const;

  [[nodiscard]] const std::vector<std::string>& include_folders() const { return include_folders_; }

  [[nodiscard]] bool any_shape() const {
    return !shapes_.empty() || !shapes_file_.empty() || !sizes_.empty() || !sizes_file_.empty();
  }
  /// The requested problems, each once, in the given order. Throws CommandError (usage): no shape, or an invalid one,
  /// with the line number if it came from a file.
  [[nodiscard]] std::vector<Problem> problems() const;
  /// The same, of which some may be ranges of M, with the weights of --shapes.
  [[nodiscard]] std::vector<RequestedShape> requested() const;
  /// The same; a range stands for its ends and the powers of two between.
  [[nodiscard]] std::vector<Problem> sampled_problems() const;
  /// The same as problems(), with `default_shape` if no shape is given; the other options apply to it.
  [[nodiscard]] std::vector<Problem> problems(std::string_view default_shape) const;
  /// The problems of a file in the format of --shapes that another option names; options of a problem fill in what its
  /// lines leave out. Ranges as of sampled_problems(). Throws the errors of problems().
  [[nodiscard]] std::vector<Problem> problems_of_file(const std::string& file) const;
  /// A given option without effect because there is no shape, such as "--layout"; empty if there is none.
  [[nodiscard]] std::string option_without_shape() const;

 private:
  /// Applies the options; types, layout and so on from a file's line take precedence.
  [[nodiscard]] Problem complete(const ListedShape& shape) const;
  [[nodiscard]] std::vector<RequestedShape> shapes_of_file(const std::string& file) const;
  void add_gemm_to(CommandLine& app);  ///< what a product may have beside
  void add_operation_to(CommandLine& app);
  [[nodiscard]] std::vector<Problem> operation_problems() const;

  Option dtype_option_;
  std::vector<Option> options_;  ///< all of GEMM but --shape and --shapes
  std::vector<std::string> shapes_;
  std::string shapes_file_;
  std::string operation_name_, sizes_file_;
  std::vector<std::string> sizes_, include_folders_;
  mutable std::unique_ptr<LoadedOperation> operation_;  ///< once it was asked for
  bool chained_ = false;
  std::string dtype_ = "f32", output_, layout_ = "nn", epilogue_ = "none";
  std::string batch_ = "1", alpha_ = "1", beta_ = "0", lda_ = "0", ldb_ = "0", ldc_ = "0";
};

/// The options for `problem`, as words for a shell: "--shape 512x512x512 --dtype bf16". An operation that is not built
/// in is kNobodysFile. `selector`: the value of --template from Catalogue::selector_of(); empty: the option is left
/// out.
[[nodiscard]] std::string problem_options_text(const Problem& problem, const std::string& selector = {});

/// A problem as a line of a file of shapes or sizes, and the option for the file. Other options give the rest (leading
/// dimensions, scalars, an operation and its dtype).
struct ListedProblem {
  std::string option, line;
};
[[nodiscard]] ListedProblem listed(const Problem& problem);

}  // namespace pgtune::tool
