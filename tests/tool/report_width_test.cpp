// SPDX-License-Identifier: MIT
// Every table of show and report over every recording: at most 80 columns, and no shape or number broken; in
// terminals of other widths, too.
#include <algorithm>
#include <string_view>

#include "tests/tool/cli_fixture.hpp"
#include "tests/tool/recordings.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class ReportWidth : public CliTest, public ::testing::WithParamInterface<std::filesystem::path> {};

/// A problem's shape, or each of an operation's sizes: "M=4096".
std::vector<std::string> printed_words(const json& problem) {
  if (!problem.contains("operation"))
    return {std::to_string(problem.at("m").get<int>()) + "x" + std::to_string(problem.at("n").get<int>()) + "x" +
            std::to_string(problem.at("k").get<int>())};
  std::vector<std::string> words;
  for (const json& size : problem.at("operation").at("sizes"))
    words.push_back(size.at("name").get<std::string>() + "=" + std::to_string(size.at("value").get<std::int64_t>()));
  return words;
}

/// How often a shape stands in the text as a word of its own, with marks behind it at most.
int times_whole(const std::string& text, const std::string& shape) {
  const auto goes_on = [&](std::size_t at, const char* with) {
    return at < text.size() && std::string_view(with).find(text[at]) != std::string_view::npos;
  };
  int times = 0;
  for (std::size_t at = text.find(shape); at != std::string::npos; at = text.find(shape, at + 1)) {
    const std::size_t end = at + shape.size(), behind = end + (goes_on(end, "*") ? 1 : 0);
    times += (at == 0 || !goes_on(at - 1, "0123456789x")) && !goes_on(behind, "0123456789x*") ? 1 : 0;
  }
  return times;
}

/// Commands to copy are in one line, however long.
std::string without_commands(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) out += line.starts_with("pgtune ") ? "" : line + '\n';
  return out;
}

TEST_P(ReportWidth, ShapesAndNumbersStayWholeIn80ColumnsAndNamesInTerminalsOf60And200) {
  const std::string database = GetParam().string();
  const auto results_of = [&](const std::vector<std::string>& form) {
    const Finished listed = pgtune(form, {"--json", "--db", database});
    EXPECT_EQ(listed.exit_code, 0) << listed.err;
    return json::parse(listed.out).at("results");
  };
  const auto shapes_of = [](const json& results, const std::function<bool(const json&)>& is_shown) {
    std::map<std::string, int> shapes;
    for (const json& result : results) {
      if (!is_shown(result)) continue;
      for (const std::string& word : printed_words(result.at("problem"))) ++shapes[word];
    }
    return shapes;
  };
  const json results = results_of({"report"});
  const auto all = shapes_of(results, [](const json&) { return true; });
  // What has no energy is only counted.
  const auto with_energy = shapes_of(results_of({"report", "--power"}), [](const json& result) {
    return !result.at("winner").is_null() ||
           (!result.at("winner_settled").is_null() && !result.at("baseline_settled").is_null());
  });
  const auto on_boards =
      shapes_of(results_of({"report", "--boards"}), [](const json& result) { return result.at("boards").size() > 1; });
  for (const std::vector<std::string>& form : {std::vector<std::string>{"show"},
                                               {"report"},
                                               {"report", "--roofline"},
                                               {"report", "--power"},
                                               {"report", "--boards"}}) {
    const Finished shown = pgtune(form, {"--db", database});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    expect_80_columns(without_commands(shown.out));
    EXPECT_TRUE(
        std::all_of(shown.out.begin(), shown.out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
        << form.back() << " has characters that not every locale has";
    for (const auto& [shape, times] : form.back() == "--power"    ? with_energy
                                      : form.back() == "--boards" ? on_boards
                                                                  : all)
      EXPECT_GE(times_whole(shown.out, shape), times) << form.back() << " breaks " << shape;
  }

  if (const std::string why = why_no_terminal(); !why.empty()) GTEST_SKIP() << why;
  for (const unsigned short columns : std::initializer_list<unsigned short>{60, 200}) {
    launch_.output_columns = columns;
    for (const std::vector<std::string>& form : {std::vector<std::string>{"report"}, {"report", "--roofline"}}) {
      const Finished shown = pgtune(form, {"--db", database, "--color", "never"});
      EXPECT_EQ(shown.exit_code, 0) << shown.err;
      std::istringstream lines(shown.out);
      for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns + 1U) << line;  // and '\r'
      EXPECT_TRUE(columns == 60 || shown.out.find("no room in") == std::string::npos) << form.back();
      for (const json& result : results) {
        std::string name;
        for (const std::string& word : printed_words(result.at("problem"))) name += (name.empty() ? "" : ",") + word;
        EXPECT_GE(times_whole(shown.out, name), 1) << form.back() << " breaks " << name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EachRecording, ReportWidth, ::testing::ValuesIn(recordings()), recording_name);

}  // namespace
}  // namespace pgtune::tool::test
