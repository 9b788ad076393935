// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/options/problem_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"
#include "tool/pgtune/cli/options/number_options.hpp"

namespace pgtune::tool {
namespace {

void append_once(std::vector<Problem>& problems, const Problem& problem) {
  if (std::find(problems.begin(), problems.end(), problem) == problems.end()) problems.push_back(problem);
}

/// Whose results are usually of another type, and can be float32.
std::vector<std::string_view> dtypes_with_float32_choice() {
  std::vector<std::string_view> words;
  for (const Dtype dtype : all_dtypes()) {
    const auto others = output_types(dtype).subspan(1);
    if (std::find(others.begin(), others.end(), ElementType::kFloat32) != others.end())
      words.push_back(to_string(dtype));
  }
  return words;
}

}  // namespace

void ProblemOptions::add_to(CommandLine& app) {
  const auto add = [&](const char* name, auto& target, const char* text, const std::string& description) {
    return app.add_option(name, target, description).option_text(text).group(kProblemGroup);
  };
  const auto add_more = [&](const char* name, auto& target, const char* text, const std::string& description) {
    options_.push_back(add(name, target, text, description));
  };
  // One value a --shape, so that a word after it is not swallowed.
  add("--shape", shapes_, "MxNxK", "Rows and columns of the result, and the sum's length; repeatable").one_value_each();
  add("--shapes", shapes_file_, "FILE", "Shapes from a file: one a line, # starts a comment");
  add_more("--dtype", dtype_, "TYPE", "Arithmetic and operands (default: f32): " + dtype_words());
  add_more("--out", output_, "TYPE",
           fmt::format("Type of C and the result: f32 where --dtype {} would give its own",
                       fmt::join(dtypes_with_float32_choice(), " or ")));
  add_more("--layout", layout_, "XX", "A and B, each n (row-major) or t (transposed): nn (default), nt, tn, tt");
  add_more("--batch", batch_, "N", "Number of matrices (default: 1)");
  add_more("--alpha", alpha_, "X", "Factor of the product (default: 1); a whole number for int8");
  add_more("--beta", beta_, "X", "Factor of the addend C (default: 0); a whole number for int8");
  add_more("--epilogue", epilogue_, "WORDS",
           "Fused behind the product: bias (a row added to all), relu, gelu (with tanh) or silu, or bias,gelu");
  add_more("--lda", lda_, "N", "Elements from row to row of A as stored (default: packed)");
  add_more("--ldb", ldb_, "N", "The same for B");
  add_more("--ldc", ldc_, "N", "The same for C and the result");
  options_.push_back(app.add_flag("--chain", chained_,
                                  "Launches form a chain, as a network's layers do: each may start, and read its B, "
                                  "before the one before it has ended, since none of them writes any B")
                         .group(kProblemGroup));
}

Problem ProblemOptions::complete(const ListedShape& listed) const {
  Problem shape = listed.problem;
  shape.dtype = listed.dtype ? *listed.dtype : value_or_throw(parse_dtype(dtype_));
  if (!output_.empty()) shape.output = value_or_throw(parse_output_type(output_));
  if (listed.output) shape.output = listed.output;
  shape.batch = listed.batch ? parse_count("batch", *listed.batch, 1) : parse_count("--batch", batch_, 1);
  shape.epilogue = listed.epilogue ? *listed.epilogue : value_or_throw(parse_epilogue(epilogue_));
  shape.alpha = parse_real("--alpha", alpha_);
  shape.beta = parse_real("--beta", beta_);
  shape.chained = listed.chained || chained_;
  shape.lda = parse_count("--lda", lda_, 0);
  shape.ldb = parse_count("--ldb", ldb_, 0);
  shape.ldc = parse_count("--ldc", ldc_, 0);
  return value_or_throw(with_default_strides(value_or_throw(with_layout(shape, listed.layout.value_or(layout_)))));
}

void ProblemOptions::append_file(std::vector<Problem>& problems) const {
  const std::vector<ListedShape> shapes = parse_shape_list(read_shape_list(shapes_file_), shapes_file_);
  for (const ListedShape& shape : shapes) {
    try {
      append_once(problems, complete(shape));
    } catch (const CommandError& error) {
      throw CommandError(error.kind(), fmt::format("{}:{}: {}", shapes_file_, shape.line, error.what()));
    }
  }
  if (shapes.empty() && problems.empty())
    throw CommandError(ErrorKind::kUsage,
                       fmt::format("no shape in '{}'. Write one shape a line, such as 4096x4096x4096.", shapes_file_));
}

std::vector<Problem> ProblemOptions::problems() const {
  std::vector<Problem> problems;
  for (const std::string& shape : shapes_)
    append_once(problems, complete({.problem = value_or_throw(parse_shape(shape))}));
  if (!shapes_file_.empty()) append_file(problems);
  if (problems.empty())
    throw CommandError(ErrorKind::kUsage, "no shape given. Add --shape MxNxK, for example --shape 4096x4096x4096.");
  return problems;
}

std::vector<Problem> ProblemOptions::problems(std::string_view default_shape) const {
  if (any_shape()) return problems();
  return {complete({.problem = value_or_throw(parse_shape(default_shape))})};
}

std::string ProblemOptions::option_without_shape() const {
  if (any_shape()) return {};
  const auto given =
      std::find_if(options_.begin(), options_.end(), [](const Option& option) { return option.given(); });
  return given == options_.end() ? std::string() : given->name();
}

}  // namespace pgtune::tool
