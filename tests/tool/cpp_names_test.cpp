// SPDX-License-Identifier: MIT
#include "tool/pgtune/export/cpp_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

namespace pgtune::tool {
namespace {

using testing::HasSubstr;
using testing::Optional;

TEST(Namespace, TakesIdentifiersJoinedByColons) {
  for (const char* good : {"a", "pgtune_best", "a::b2::_c", "a_b::c_", "Best::GEMM", "a::posix", "std_gemm", "std2x",
                           "final", "module", "import"})
    EXPECT_EQ(why_no_namespace(good), std::nullopt) << good;
}

TEST(Namespace, WhatIsNoIdentifierIsRefused) {
  for (const char* bad :
       {"", "2a", "a-b", "a::", "::a", "a:b", "a:::b", "a::::b", "a b", "a::inline b", "a\n", "h\xc3\xa4user"})
    EXPECT_THAT(why_no_namespace(bad), Optional(HasSubstr("is no identifier"))) << bad;
}

TEST(Namespace, KeywordsAndAlternativeTokensAreRefusedInAnyPart) {
  for (const std::string word : {"alignas", "class", "int", "static_assert", "thread_local", "xor_eq", "and", "not",
                                 "char8_t", "co_await", "concept", "consteval", "constinit", "requires", "export"}) {
    EXPECT_THAT(why_no_namespace(word), Optional(HasSubstr("'" + word + "' is a C++ keyword")));
    EXPECT_THAT(why_no_namespace("a::" + word + "::b"), Optional(HasSubstr("'" + word + "' is a C++ keyword")));
  }
}

TEST(Namespace, NamesThatCppReservesAreRefused) {
  for (const char* bad : {"_Best", "a::_Best", "my__gemm", "a::b__", "__a", "_best", "_", "std", "std2", "posix::a"})
    EXPECT_THAT(why_no_namespace(bad), Optional(HasSubstr("C++ reserves"))) << bad;
  EXPECT_THAT(why_no_namespace("my::std"), Optional(HasSubstr("'std'")));
}

TEST(Namespace, MacrosOfGnuDialectsAreRefused) {
  for (const char* bad : {"linux", "a::linux", "unix::b"})
    EXPECT_THAT(why_no_namespace(bad), Optional(HasSubstr("GNU dialects define"))) << bad;
  for (const char* good : {"linux_", "a::Linux"}) EXPECT_EQ(why_no_namespace(good), std::nullopt);
  EXPECT_EQ(cpp_member("unix"), "unix_");
}

TEST(Namespace, NamesOfTheIncludedHeadersAreRefused) {
  for (const char* bad : {"NULL", "a::EOF", "CUDA_VERSION", "a::INT64_MAX", "errno"})
    EXPECT_THAT(why_no_namespace(bad), Optional(HasSubstr("is a macro"))) << bad;
  for (const char* good : {"a::main", "a::time", "GEMM"}) EXPECT_EQ(why_no_namespace(good), std::nullopt) << good;
}

TEST(GuardedWords, AreThoseThatOthersDefineAndShortCapitals) {
  EXPECT_THAT(guarded_words("Status f(int N, int BM, int min_, X1 y) { return Status::ok; } // max NAN LONG n"),
              testing::ElementsAre("BM", "N", "Status", "max"));
  EXPECT_THAT(guarded_words("f(\"AB \\\" CD\", \"EF\"\n\"GH\"); N  // of one \" mark\nK = \"L\"\"\"M;"),
              testing::ElementsAre("K", "M", "N"));
}

TEST(Keywords, AreWholeWordsInTheirOwnCase) {
  EXPECT_TRUE(is_cpp_keyword("union"));
  for (const char* word : {"Union", "unio", "unions", ""}) EXPECT_FALSE(is_cpp_keyword(word)) << word;
}

/// Declarations begin a line; those of detail do not count.
TEST(Names, OfEveryHeaderAreTaken) {
  const std::regex type("(?:struct|class|enum class|using) (\\w+).*"),
      value("(?:inline|constexpr) [^(=]*?(\\w+)(?:\\(| =).*");
  int found = 0;
  for (const auto& file : std::filesystem::directory_iterator(PGTUNE_SOURCE_DIR "/exported")) {
    if (file.path().extension() != ".hpp") continue;
    std::ifstream text(file.path());
    bool in_detail = false;
    for (std::string line; std::getline(text, line);) {
      if (std::regex_match(line, std::regex(".*namespace .*detail.*"))) in_detail = !line.starts_with("}");
      std::smatch name;
      if (in_detail || !(std::regex_match(line, name, type) || std::regex_match(line, name, value))) continue;
      EXPECT_EQ(cpp_name(name[1]), name[1].str() + '_') << line;
      ++found;
    }
  }
  EXPECT_GE(found, 30);
}

}  // namespace
}  // namespace pgtune::tool
