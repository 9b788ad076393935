// SPDX-License-Identifier: MIT
// Finds the includes of CUDA C++ text.
#include "tuner/template/template_source.hpp"

namespace pgtune::space {
namespace {

void skip_blanks(std::string_view& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  text.remove_prefix(first == std::string_view::npos ? text.size() : first);
}

bool skip_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  skip_blanks(text);
  return true;
}

/// The name in an include directive, which follows `opening` and ends at `closing`; or nothing.
std::string_view included_name(std::string_view line, char opening, char closing) {
  skip_blanks(line);
  if (!skip_word(line, "#") || !skip_word(line, "include") || !line.starts_with(opening)) return {};
  const std::size_t end = line.find(closing, 1);
  return end == std::string_view::npos ? std::string_view{} : line.substr(1, end - 1);
}

/// Whether a block comment is open after `line`, given whether one was before it.
bool comment_open_after(std::string_view line, bool open) {
  if (!open && line.find("/*") == std::string_view::npos) return false;  // nearly every line
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string_view rest = line.substr(i);
    if (open) {
      if (rest.starts_with("*/")) {
        open = false;
        ++i;
      }
    } else if (quote != 0) {
      if (line[i] == '\\') {
        ++i;
      } else if (line[i] == quote) {
        quote = 0;
      }
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    } else if (rest.starts_with("//")) {
      return false;
    } else if (rest.starts_with("/*")) {
      open = true;
      ++i;
    }
  }
  return open;
}

}  // namespace

std::vector<Include> includes_of(std::string_view source) {
  const char* const begin = source.data();
  std::vector<Include> out;
  const auto add = [&](std::string_view name, bool quoted) {
    if (!name.empty()) out.push_back({std::string(name), quoted, static_cast<std::size_t>(name.data() - begin)});
  };
  bool in_comment = false;
  while (!source.empty()) {
    const std::string_view line = source.substr(0, source.find('\n'));
    source.remove_prefix(line.size() == source.size() ? line.size() : line.size() + 1);
    if (!in_comment) {
      add(included_name(line, '"', '"'), true);
      add(included_name(line, '<', '>'), false);
    }
    in_comment = comment_open_after(line, in_comment);
  }
  return out;
}

}  // namespace pgtune::space
