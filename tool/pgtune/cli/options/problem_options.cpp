// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/options/problem_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "tool/pgtune/cli/command_error.hpp"
#include "tool/pgtune/cli/options/common_options.hpp"

namespace pgtune::tool {
namespace {

void append_once(std::vector<Problem>& problems, const Problem& problem) {
  if (std::find(problems.begin(), problems.end(), problem) == problems.end()) problems.push_back(problem);
}

void append_once(std::vector<RequestedShape>& shapes, const RequestedShape& shape) {
  const auto same = std::find_if(shapes.begin(), shapes.end(), [&](const RequestedShape& other) {
    return other.problem == shape.problem && other.first_m == shape.first_m;
  });
  if (same == shapes.end())
    shapes.push_back(shape);
  else if (shape.weight)
    same->weight = same->weight.value_or(0) + *shape.weight;
}

/// Throws CommandError (usage) if there is a range of M.
std::vector<Problem> without_ranges(const std::vector<RequestedShape>& shapes) {
  std::vector<Problem> problems;
  for (const RequestedShape& shape : shapes) {
    if (shape.first_m)
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("{}'{}..{}' is a range of M, which this command does not take. Give one M.",
                                     shape.place, *shape.first_m, shape.problem.shape()));
    problems.push_back(shape.problem);
  }
  return problems;
}

/// Of a range its ends and the powers of two between.
std::vector<Problem> sampled(const std::vector<RequestedShape>& shapes) {
  std::vector<Problem> problems;
  for (const RequestedShape& shape : shapes) {
    Problem problem = shape.problem;
    for (auto m = static_cast<std::uint64_t>(shape.first_m.value_or(problem.m));
         m < static_cast<std::uint64_t>(shape.problem.m); m = 2 * std::bit_floor(m)) {
      problem.m = static_cast<std::int64_t>(m);
      append_once(problems, problem);
    }
    append_once(problems, shape.problem);
  }
  return problems;
}

Family family_of(const RequestedShape& shape) {
  Family range;
  range.problem = shape.problem;
  range.first_m = shape.first_m.value_or(shape.problem.m);
  return range;
}

/// Dtypes with results usually of another type, which may be float32.
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

std::string RequestedShape::title() const {
  return (first_m ? fmt::format("{}..", *first_m) : std::string()) + problem.title();
}

bool RequestedShape::includes(const Problem& other) const {
  return first_m ? family_of(*this).covers(other) : problem == other;
}

bool RequestedShape::meets(const Family& family) const {
  const Family range = family_of(*this);
  const std::int64_t m = std::max(range.first_m, family.first_m);
  return m <= range.last_m() && family.covers(range.at(m));
}

void ProblemOptions::add_to(CommandLine& app) {
  add_product_to(app);
  add_gemm_to(app);
  add_operation_to(app);
}

void ProblemOptions::add_product_to(CommandLine& app) {
  const auto add = [&](const char* name, auto& target, const char* text, const std::string& description) {
    return app.add_option(name, target, description).option_text(text).group(kProblemGroup);
  };
  // One value a --shape, so that a word after it is not swallowed.
  add("--shape", shapes_, "MxNxK", "Rows and columns of the result, and length of the sum; repeatable")
      .one_value_each();
  add("--shapes", shapes_file_, "FILE", "Shapes from a file: one a line, # starts a comment");
  dtype_option_ = add("--dtype", dtype_, "TYPE", "Arithmetic and operands (default: f32): " + dtype_words());
  options_ = {
      dtype_option_,
      add("--out", output_, "TYPE",
          fmt::format("Type of C and the result: f32 where --dtype {} would give its own",
                      fmt::join(dtypes_with_float32_choice(), " or "))),
      add("--layout", layout_, "XX", "A and B, each n (row-major) or t (transposed): nn (default), nt, tn, tt")};
}

void ProblemOptions::add_gemm_to(CommandLine& app) {
  const auto add = [&](const char* name, auto& target, const char* text, const char* description) {
    options_.push_back(app.add_option(name, target, description).option_text(text).group(kProblemGroup));
  };
  add("--batch", batch_, "N", "Number of matrices (default: 1)");
  add("--alpha", alpha_, "X", "Factor of the product (default: 1); a whole number for int8");
  add("--beta", beta_, "X", "Factor of the addend C (default: 0); a whole number for int8");
  add("--epilogue", epilogue_, "WORDS",
      "Fused after the product: bias (one row added to all rows), relu, gelu (tanh) or silu; or both: bias,gelu");
  add("--lda", lda_, "N", "Elements from row to row of A as stored (default: packed)");
  add("--ldb", ldb_, "N", "The same for B");
  add("--ldc", ldc_, "N", "The same for C and the result");
  options_.push_back(app.add_flag("--chain", chained_,
                                  "Launches overlap, as layers of a network may: each starts, and reads its B, before "
                                  "the one before it has ended; none may write any B")
                         .group(kProblemGroup));
}

void ProblemOptions::add_operation_to(CommandLine& app) {
  const auto add = [&](const char* name, auto& target, const char* text, const std::string& description) {
    return app.add_option(name, target, description).option_text(text).group(kProblemGroup);
  };
  add("--operation", operation_name_, "NAME|FILE",
      fmt::format("An operation other than GEMM: {}, or the JSON of your own",
                  fmt::join(Catalogue().operation_names(), ", ")));
  add_include_folder_option(app, include_folders_).group(kProblemGroup);
  add("--size", sizes_, "N=1024,...", "Sizes of the operation's dimensions; repeatable").one_value_each();
  add("--sizes", sizes_file_, "FILE", "Sizes from a file: those of one problem a line, # starts a comment");
}

const LoadedOperation* ProblemOptions::operation() const {
  if (operation_name_.empty()) return nullptr;
  if (!operation_) operation_ = std::make_unique<LoadedOperation>(Catalogue().operation(operation_name_));
  return operation_.get();
}

space::TemplateSet ProblemOptions::templates_for(const Catalogue& catalogue, const std::string& selector,
                                                 const Problem& problem) const {
  return catalogue.with_include_folders(include_folders_).select(selector, problem, operation());
}

std::vector<Problem> ProblemOptions::operation_problems() const {
  const operation::OperationDefinition& definition = operation()->definition;
  if (!shapes_.empty() || !shapes_file_.empty())
    throw CommandError(ErrorKind::kUsage, "a shape is for GEMM. Give --size with --operation.");
  for (const Option& option : options_) {
    if (option.given() && option.name() != dtype_option_.name())
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("{} is for GEMM, not for the operation '{}'.", option.name(), definition.name));
  }
  std::optional<Dtype> dtype;
  if (dtype_option_.given()) dtype = value_or_throw(parse_dtype(dtype_));
  std::vector<Problem> problems;
  const auto add = [&](std::string_view text) {
    const auto sizes = value_or_throw(operation::parse_sizes(text));
    append_once(problems, value_or_throw(operation::make_problem(definition, sizes, dtype)));
  };
  for (const std::string& sizes : sizes_) add(sizes);
  if (!sizes_file_.empty()) {
    for (const auto& [line, text] : parse_size_list(read_shape_list(sizes_file_), sizes_file_)) {
      try {
        add(text);
      } catch (const CommandError& error) {
        throw CommandError(error.kind(), fmt::format("{}:{}: {}", sizes_file_, line, error.what()));
      }
    }
  }
  if (problems.empty()) {
    std::vector<std::string> names;
    for (const operation::Dimension& dimension : definition.dimensions) names.push_back(dimension.name + "=1024");
    throw CommandError(ErrorKind::kUsage, fmt::format("no sizes given for the operation '{}'. Add --size, for example "
                                                      "--size {}.",
                                                      definition.name, fmt::join(names, ",")));
  }
  return problems;
}

Problem ProblemOptions::complete(const ListedShape& listed) const {
  Problem shape = listed.problem;
  shape.dtype = listed.dtype ? *listed.dtype : value_or_throw(parse_dtype(dtype_));
  if (!output_.empty()) shape.output = value_or_throw(parse_output_type(output_));
  if (listed.output) shape.output = listed.output;
  shape.batch = listed.batch ? parse_count("batch", *listed.batch, 1) : parse_count("--batch", batch_, 1);
  shape.epilogue = listed.epilogue ? *listed.epilogue : value_or_throw(parse_epilogue(epilogue_));
  shape.alpha = parse_real("--alpha", alpha_);
  shape.beta = listed.beta ? parse_real("beta", *listed.beta) : parse_real("--beta", beta_);
  shape.chained = listed.chained || chained_;
  shape.lda = listed.lda ? parse_count("lda", *listed.lda, 0) : parse_count("--lda", lda_, 0);
  shape.ldb = listed.ldb ? parse_count("ldb", *listed.ldb, 0) : parse_count("--ldb", ldb_, 0);
  shape.ldc = listed.ldc ? parse_count("ldc", *listed.ldc, 0) : parse_count("--ldc", ldc_, 0);
  if (listed.first_m && listed.layout.value_or(layout_).starts_with('t') && shape.lda == 0)
    throw CommandError(ErrorKind::kUsage,
                       "rows of a transposed A are M long, and M is a range. Give their pitch with --lda.");
  return value_or_throw(with_default_strides(value_or_throw(with_layout(shape, listed.layout.value_or(layout_)))));
}

std::vector<Problem> ProblemOptions::problems_of_file(const std::string& file) const {
  return sampled(shapes_of_file(file));
}

std::vector<RequestedShape> ProblemOptions::shapes_of_file(const std::string& file) const {
  std::vector<RequestedShape> shapes;
  for (const ListedShape& listed : parse_shape_list(read_shape_list(file), file)) {
    try {
      RequestedShape shape{complete(listed), listed.first_m, {}, fmt::format("{}:{}: ", file, listed.line)};
      if (listed.weight) shape.weight = parse_real("weight", *listed.weight);
      if (shape.weight && *shape.weight <= 0)
        throw CommandError(ErrorKind::kUsage, fmt::format("a weight is a number above 0, not {}.", *shape.weight));
      append_once(shapes, shape);
    } catch (const CommandError& error) {
      throw CommandError(error.kind(), fmt::format("{}:{}: {}", file, listed.line, error.what()));
    }
  }
  if (shapes.empty())
    throw CommandError(ErrorKind::kUsage,
                       fmt::format("no shape in '{}'. Write one shape a line, such as 4096x4096x4096.", file));
  return shapes;
}

std::vector<Problem> ProblemOptions::problems() const { return without_ranges(requested()); }

std::vector<Problem> ProblemOptions::sampled_problems() const { return sampled(requested()); }

std::vector<RequestedShape> ProblemOptions::requested() const {
  std::vector<RequestedShape> shapes;
  if (operation() != nullptr) {
    for (Problem& problem : operation_problems()) shapes.push_back({std::move(problem)});
    return shapes;
  }
  if (!sizes_.empty() || !sizes_file_.empty())
    throw CommandError(ErrorKind::kUsage, "--size is for another operation than GEMM. Name it with --operation.");
  for (const std::string& text : shapes_) {
    const ShapeRange range = value_or_throw(parse_shape_range(text));
    append_once(shapes, {complete({.problem = range.shape, .first_m = range.first_m}), range.first_m, {}, {}});
  }
  if (!shapes_file_.empty()) {
    for (const RequestedShape& shape : shapes_of_file(shapes_file_)) append_once(shapes, shape);
  }
  if (shapes.empty())
    throw CommandError(ErrorKind::kUsage, "no shape given. Add --shape MxNxK, for example --shape 4096x4096x4096.");
  return shapes;
}

std::vector<Problem> ProblemOptions::problems(std::string_view default_shape) const {
  if (any_shape() || !operation_name_.empty()) return problems();
  return {complete({.problem = value_or_throw(parse_shape(default_shape))})};
}

std::string ProblemOptions::option_without_shape() const {
  if (any_shape()) return {};
  const auto given =
      std::find_if(options_.begin(), options_.end(), [](const Option& option) { return option.given(); });
  return given == options_.end() ? std::string() : given->name();
}

namespace {

/// An operation that is not built in is kNobodysFile.
std::string operation_options_text(const Problem& problem) {
  const std::string name = problem.operation_name();
  const bool own = Catalogue().templates_of(name).empty();
  std::string options = fmt::format("--operation {} --size {}", own ? kNobodysFile : name, problem.shape());
  if (problem.has_dtype()) options += fmt::format(" --dtype {}", to_string(problem.dtype));
  return options;
}

std::string gemm_options_text(const Problem& problem) {
  const Problem usual;
  std::string options = fmt::format("--shape {}", problem.shape());
  if (problem.dtype != usual.dtype) options += fmt::format(" --dtype {}", to_string(problem.dtype));
  if (!problem.has_usual_output()) options += fmt::format(" --out {}", to_string(problem.type_of_c()));
  if (problem.layout() != "nn") options += fmt::format(" --layout {}", problem.layout());
  if (problem.batch != 1) options += fmt::format(" --batch {}", problem.batch);
  if (problem.alpha != usual.alpha) options += fmt::format(" --alpha {}", problem.alpha);
  if (problem.beta != usual.beta) options += fmt::format(" --beta {}", problem.beta);
  if (problem.epilogue.any()) options += fmt::format(" --epilogue {}", to_string(problem.epilogue));
  if (problem.lda != problem.columns_a()) options += fmt::format(" --lda {}", problem.lda);
  if (problem.ldb != problem.columns_b()) options += fmt::format(" --ldb {}", problem.ldb);
  if (problem.ldc != problem.n) options += fmt::format(" --ldc {}", problem.ldc);
  if (problem.chained) options += " --chain";
  return options;
}

std::string gemm_line(const Problem& problem) {
  std::string line = fmt::format("{} {} {}", problem.shape(), to_string(problem.dtype), problem.layout());
  if (!problem.has_usual_output()) line += fmt::format(" out {}", to_string(problem.type_of_c()));
  if (problem.epilogue.any()) line += fmt::format(" epilogue {}", to_string(problem.epilogue));
  if (problem.batch != 1) line += fmt::format(" batch {}", problem.batch);
  if (problem.lda != problem.columns_a()) line += fmt::format(" lda {}", problem.lda);
  if (problem.ldb != problem.columns_b()) line += fmt::format(" ldb {}", problem.ldb);
  if (problem.ldc != problem.n) line += fmt::format(" ldc {}", problem.ldc);
  if (problem.beta != 0) line += fmt::format(" beta {}", problem.beta);
  if (problem.chained) line += " chained";
  return line;
}

}  // namespace

std::string problem_options_text(const Problem& problem, const std::string& selector) {
  const std::string options = problem.is_gemm() ? gemm_options_text(problem) : operation_options_text(problem);
  return selector.empty() ? options : fmt::format("{} --template {}", options, selector);
}

ListedProblem listed(const Problem& problem) {
  if (problem.is_gemm()) return {"--shapes", gemm_line(problem)};
  return {"--sizes", problem.shape()};
}

}  // namespace pgtune::tool
