// SPDX-License-Identifier: MIT
#include "tool/pgtune/cli/options/shape_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "tool/pgtune/cli/command_error.hpp"
#include "tuner/util/utf8.hpp"

namespace pgtune::tool {
namespace {

constexpr std::size_t kMaxListBytes = 1U << 20U;

constexpr std::size_t kLongestShapeWord = 256;  // messages repeat one

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream stream{std::string(line)};
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

/// Where the number after `word` goes; null: no such word.
std::optional<std::string>* number_of(ListedShape& shape, std::string_view word) {
  const std::pair<std::string_view, std::optional<std::string>*> numbers[] = {
      {"batch", &shape.batch}, {"lda", &shape.lda},   {"ldb", &shape.ldb},
      {"ldc", &shape.ldc},     {"beta", &shape.beta}, {"weight", &shape.weight}};
  for (const auto& [name, number] : numbers) {
    if (name == word) return number;
  }
  return nullptr;
}

/// Precondition: there are words.
Result<ListedShape> parse_words(const std::vector<std::string>& words) {
  TRY_ASSIGN(const auto range, parse_shape_range(words.front()));
  const Problem& problem = range.shape;
  ListedShape shape{.problem = problem, .first_m = range.first_m};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "out" && i + 1 < words.size() && !shape.output) {
      TRY_ASSIGN(auto output, parse_output_type(words[++i]));
      shape.output = output;
    } else if (word == "epilogue" && i + 1 < words.size() && !shape.epilogue) {
      TRY_ASSIGN(auto epilogue, parse_epilogue(words[++i]));
      shape.epilogue = epilogue;
    } else if (std::optional<std::string>* const number = number_of(shape, word);
               number != nullptr && i + 1 < words.size() && !*number) {
      *number = words[++i];
    } else if (word == "chained" && !shape.chained) {
      shape.chained = true;
    } else if (const auto dtype = parse_dtype(word); dtype && !shape.dtype) {
      shape.dtype = *dtype;
    } else if (with_layout(problem, word) && !shape.layout) {
      shape.layout = word;
    } else {
      return fail(
          ErrorKind::kUsage,
          fmt::format(
              "'{}' after the shape; a dtype ({}), a layout (nn, nt, tn, tt), 'out f32', 'epilogue bias,gelu', "
              "'batch N', 'lda N', 'ldb N', 'ldc N', 'beta X', 'weight X' and 'chained' may follow it, each once",
              word, dtype_words()));
    }
  }
  return shape;
}

}  // namespace

std::vector<ListedShape> parse_shape_list(std::string_view text, const std::string& origin) {
  std::vector<ListedShape> shapes;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::vector<std::string> words = words_of(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    if (std::any_of(words.begin(), words.end(),
                    [](const std::string& word) { return word.size() > kLongestShapeWord; }))
      throw CommandError(ErrorKind::kUsage,
                         fmt::format("{}:{}: a word of more than {} characters. Give one shape a line, such as "
                                     "4096x4096x4096.",
                                     origin, number, kLongestShapeWord));
    auto parsed = parse_words(words);
    if (!parsed)
      throw CommandError(parsed.error().kind, fmt::format("{}:{}: {}", origin, number, parsed.error().text()));
    if (shapes.size() == kMaxShapes)
      throw CommandError(ErrorKind::kUsage, fmt::format("{}:{}: more than {} shapes", origin, number, kMaxShapes));
    parsed->line = number;
    shapes.push_back(std::move(*parsed));
  }
  return shapes;
}

std::vector<ListedSizes> parse_size_list(std::string_view text, const std::string& origin) {
  std::vector<ListedSizes> out;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::vector<std::string> words = words_of(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    if (words.size() > 1 || words.front().size() > kLongestShapeWord)
      throw CommandError(ErrorKind::kUsage, fmt::format("{}:{}: give the sizes of one problem a line, without blanks, "
                                                        "such as M=4096,N=8192.",
                                                        origin, number));
    if (out.size() == kMaxShapes)
      throw CommandError(ErrorKind::kUsage, fmt::format("{}:{}: more than {} problems", origin, number, kMaxShapes));
    out.push_back({number, words.front()});
  }
  return out;
}

std::string read_shape_list(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text(kMaxListBytes + 1, '\0');
  if (stream) stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  // A folder opens but does not read.
  if (!stream.is_open() || stream.bad() || (stream.fail() && !stream.eof()))
    throw CommandError(ErrorKind::kUsage,
                       fmt::format("cannot read the list '{}': {}. Give a text file with one problem a line.", file,
                                   std::strerror(errno)));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > kMaxListBytes)
    throw CommandError(ErrorKind::kUsage,
                       fmt::format("'{}' is larger than {} MiB, too large for a list.", file, kMaxListBytes >> 20U));
  return std::string(without_byte_order_mark(text));
}

}  // namespace pgtune::tool
