// SPDX-License-Identifier: MIT
// Generated C++ computes what the interpreter does: thousands of random expressions, compiled and run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>

#include "tests/support/scratch_folder.hpp"
#include "tuner/expression/expression.hpp"
#include "tuner/util/own_files.hpp"

namespace pgtune::space {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max(),
                       kSmallest = std::numeric_limits<std::int64_t>::min();
constexpr std::array<std::int64_t, 16> kInteresting{
    0, 1, 2, 3, 7, 16, 63, 64, -1, -2, -128, 4096, std::int64_t{1} << 31, kLargest, kSmallest, kSmallest + 1};
constexpr int kExpressions = 400, kPoints = 24;

/// A random expression over the names a, b and c.
class RandomText {
 public:
  explicit RandomText(unsigned seed) : random_(seed) {}

  std::string expression(int depth) {
    if (depth == 0 || one_of(8) == 0) return leaf();
    const auto part = [&] { return expression(depth - 1); };
    static constexpr std::array kBinary{"+",  "-", "*",  "/",  "%",  "<<", ">>", "<",
                                        "<=", ">", ">=", "==", "!=", "&&", "||"};
    static constexpr std::array kOfTwo{"ceil_div", "round_up", "gcd", "min", "max"};
    switch (one_of(6)) {
      case 0:
        return fmt::format("({} ? {} : {})", part(), part(), part());
      case 1:
        return fmt::format("{}({}, {})", kOfTwo[one_of(kOfTwo.size())], part(), part());
      case 2:
        return fmt::format("{}({})", one_of(2) == 0 ? "abs" : "is_pow2", part());
      case 3:
        return fmt::format("{}({})", one_of(2) == 0 ? "-" : "!", part());
      default:
        return fmt::format("({} {} {})", part(), kBinary[one_of(kBinary.size())], part());
    }
  }
  std::int64_t value() { return kInteresting[one_of(kInteresting.size())]; }

 private:
  std::size_t one_of(std::size_t count) { return random_() % count; }
  std::string leaf() {
    if (one_of(3) == 0) return std::to_string(one_of(2) == 0 ? one_of(70) : 0x7fffffffffffffffU >> one_of(60));
    return std::string(1, static_cast<char>('a' + one_of(3)));
  }
  std::mt19937 random_;
};

struct CppCase {
  Expression expression;
  std::vector<std::array<std::int64_t, 3>> points;
};

class PointScope : public Scope {
 public:
  explicit PointScope(const std::array<std::int64_t, 3>& values) : values_(values) {}
  [[nodiscard]] std::optional<std::int64_t> value(std::string_view name) const override {
    return values_[static_cast<std::size_t>(name[0] - 'a')];
  }

 private:
  std::array<std::int64_t, 3> values_;
};

std::string literal(std::int64_t value) {
  return value == kSmallest ? "(-9223372036854775807 - 1)" : std::to_string(value);
}

std::string program_of(const std::vector<CppCase>& cases) {
  std::string text = "#include \"exported/checked.hpp\"\n#include <cstdio>\nusing namespace pgtune_export::detail;\n";
  std::string calls;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    text += fmt::format(
        "static Int f{}(bool& x, [[maybe_unused]] Int a, [[maybe_unused]] Int b, [[maybe_unused]] Int c) {{ (void)x; "
        "return {}; }}\n",
        i, cases[i].expression.cpp(cases[i].expression.names()));
    text += fmt::format("static const Int p{}[][3] = {{", i);
    for (const auto& point : cases[i].points)
      text += fmt::format("{{{}, {}, {}}}, ", literal(point[0]), literal(point[1]), literal(point[2]));
    text += "};\n";
    calls += fmt::format("  show(f{0}, p{0});\n", i);
  }
  return text +
         fmt::format(
             "template <typename F, typename P> static void show(F f, const P& points) {{\n"
             "  for (const auto& p : points) {{\n    bool x = false;\n    const Int value = f(x, p[0], p[1], p[2]);\n"
             "    if (x) std::puts(\"fault\"); else std::printf(\"%lld\\n\", static_cast<long long>(value));\n  "
             "}}\n}}\n"
             "int main() {{\n{}}}\n",
             calls);
}

/// What the program prints when compiled as C++17 with all warnings as errors and every undefined behaviour trapped.
std::string output_of(const std::string& program) {
  const support::ScratchFolder folder;
  std::ofstream(folder / "program.cpp") << program;
  const std::string command = fmt::format(
      "cd '{}' && c++ -std=c++17 -O0 -Wall -Wextra -Wpedantic -Werror -fsanitize=undefined "
      "-fsanitize-undefined-trap-on-error -I'{}' program.cpp -o program && ./program > out",
      folder.path().string(), PGTUNE_SOURCE_DIR);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return read_file(folder / "out").value_or("");
}

TEST(ExpressionCpp, ComputesWhatTheInterpreterDoes) {
  RandomText random(20240917);
  std::vector<CppCase> cases;
  while (cases.size() < kExpressions) {
    auto expression = Expression::parse(random.expression(4));
    if (!expression) continue;  // longer than expressions may be
    CppCase next{std::move(*expression), {}};
    for (int i = 0; i < kPoints; ++i) next.points.push_back({random.value(), random.value(), random.value()});
    cases.push_back(std::move(next));
  }
  std::istringstream lines(output_of(program_of(cases)));
  int faults = 0, values = 0;
  for (const CppCase& one : cases) {
    for (const auto& point : one.points) {
      const auto expected = one.expression.evaluate(PointScope(point));
      std::string line;
      std::getline(lines, line);
      ++(expected ? values : faults);
      ASSERT_EQ(line, expected ? std::to_string(*expected) : "fault")
          << one.expression.text() << " with " << point[0] << ", " << point[1] << ", " << point[2];
    }
  }
  // Random operands overflow often; neither kind may have gone missing.
  EXPECT_GT(faults, 500);
  EXPECT_GT(values, 2000);
}

TEST(ExpressionCpp, EvaluatesOnlyWhatIsNeeded) {
  for (const char* text : {"a == 0 || 10 / a > 1", "a != 0 && 10 / a > 1", "a == 0 ? 1 : 10 / a"}) {
    const auto expression = Expression::parse(text);
    ASSERT_TRUE(expression);
    const std::string program = program_of({{*expression, {{0, 0, 0}, {4, 0, 0}}}});
    EXPECT_THAT(output_of(program), testing::Not(testing::HasSubstr("fault"))) << text;
  }
}

}  // namespace
}  // namespace pgtune::space
