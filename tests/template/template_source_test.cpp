// SPDX-License-Identifier: MIT
// Includes of a template's source, and the hash over everything.
#include "tuner/template/template_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/template/sample_template.hpp"

namespace pgtune::space {
namespace {

using testing::Files;
using ::testing::HasSubstr;
using testing::json;
using testing::reader;
using testing::sample_json;

std::vector<std::string> names_of(std::string_view source, bool quoted) {
  std::vector<std::string> out;
  for (const Include& include : includes_of(source)) {
    EXPECT_EQ(source.substr(include.place, include.name.size()), include.name);
    if (include.quoted == quoted) out.push_back(include.name);
  }
  return out;
}

TEST(Includes, AreDirectivesOnly) {
  EXPECT_EQ(names_of("#include \"a.cuh\"\n"
                     "  #  include   \"b/c.cuh\"  // #include \"no1\"\r\n"
                     "#include <cuda_fp16.h>\n"
                     "// #include \"no2\"\n"
                     "/* #include \"no3\"\n"
                     "#include \"no4\"\n"
                     "*/\n"
                     "/*/\n"
                     "#include \"no6\"\n"
                     "*/\n"
                     "const char* s = \"/*\";\n"
                     "#include \"d.cuh\"\n"
                     "int x; #include \"no5\"\n"
                     "#include \"unterminated\n"
                     "#include\"e.cuh\"",
                     true),
            (std::vector<std::string>{"a.cuh", "b/c.cuh", "d.cuh", "e.cuh"}));
}

TEST(Includes, InAngleBracketsAreToldApart) {
  EXPECT_EQ(
      names_of("#include <a>\n#include \"b\"\n// #include <no>\n# include<c/d.h> // x\n#include <unterminated", false),
      (std::vector<std::string>{"a", "c/d.h"}));
}

TEST(TemplateSource, HeadersLieInTheFoldersThatTheJsonNames) {
  testing::Files files = testing::sample_files();
  files.begin()->second = "#include \"a.cuh\"\n" + files.begin()->second;
  files.emplace("shared/a.cuh", "// of the folder");
  auto document = testing::sample_json();
  const auto parsed = [&] { return parse_template(document.dump(), "sample.json", reader(files)); };
  EXPECT_FALSE(parsed());
  document["include_folders"] = {"other", "shared"};
  const auto found = parsed();
  EXPECT_TRUE(found) << found.error().text();
  for (const char* folder : {"../shared", "/shared", "a/../../shared"}) {
    document["include_folders"] = {folder};
    const auto refused = parsed();
    ASSERT_FALSE(refused) << folder;
    EXPECT_THAT(refused.error().text(), HasSubstr("is not below the folder of this JSON"));
  }
}

TEST(TemplateSource, HeadersOfAFolderIncludeTheirNeighboursByTheNameBelowIt) {
  const Files own{{"x.cu", "#include \"lib/a.cuh\"\n"}};
  Files folder{
      {"lib/a.cuh", "#include \"b.cuh\"\n#include <c.cuh>\n"}, {"lib/b.cuh", "// beside"}, {"c.cuh", "// below"}};
  const auto read = [&](const Files& files) {
    return read_template_source("x.cu", reader(files), {}, {reader(folder)});
  };
  const auto source = read(own);
  ASSERT_TRUE(source) << source.error().text();
  std::vector<std::string> names;
  for (const SourceFile& header : source->headers) names.push_back(header.name);
  EXPECT_EQ(names, (std::vector<std::string>{"c.cuh", "lib/a.cuh", "lib/b.cuh"}));
  EXPECT_EQ(source->headers[1].contents, "#include \"lib/b.cuh\"\n#include <c.cuh>\n");
  const auto clash = read({{"x.cu", "#include \"lib/b.cuh\"\n#include \"lib/a.cuh\"\n"}, {"lib/b.cuh", "// own"}});
  ASSERT_FALSE(clash);
  EXPECT_THAT(clash.error().text(), HasSubstr("lib/a.cuh includes \"b.cuh\", and there is another lib/b.cuh"));
}

TEST(TemplateSource, HeadersOfTheHostsCompilerAreStoodInFor) {
  const auto source = read_template_source(
      "x.cu",
      reader({{"x.cu", "#include <stdint.h>\n#include <cuda_fp16.h>\n#include \"a.cuh\"\n#include <vector>\n"},
              {"a.cuh", "#include <stdint.h>\n#include <limits>\n#include \"cmath\"\n"},
              {"cmath", "own"}}),
      {});
  ASSERT_TRUE(source) << source.error().text();
  std::vector<std::string> names;
  for (const SourceFile& header : source->headers) names.push_back(header.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a.cuh", "cmath", "limits", "stdint.h"}));
  EXPECT_EQ(source->headers[1].contents, "own");
  EXPECT_THAT(source->headers[3].contents, HasSubstr("#include <cuda/std/cstdint>"));
}

TEST(TemplateSource, ResolvesIncludesOfIncludesFromTheSourcesFolder) {
  const auto source = read_template_source("../templates/x.cu",
                                           reader({{"../templates/x.cu", "#include \"device/b.cuh\"\n"},
                                                   {"../templates/device/b.cuh", "#include \"device/a.cuh\"\n"},
                                                   {"../templates/device/a.cuh", "#include \"device/b.cuh\"\n"}}),
                                           {});
  ASSERT_TRUE(source) << source.error().text();
  EXPECT_EQ(source->name, "x.cu");
  ASSERT_EQ(source->headers.size(), 2U);
  EXPECT_EQ(source->headers[0].name, "device/a.cuh");
  EXPECT_EQ(source->headers[1].name, "device/b.cuh");
}

TEST(TemplateSource, OwnHeadersComeBeforeShippedOnes) {
  const Files own{{"x.cu", "#include \"device/a.cuh\"\n#include \"device/b.cuh\"\n"}, {"device/a.cuh", "own"}};
  const auto source =
      read_template_source("x.cu", reader(own), reader({{"device/a.cuh", "shipped"}, {"device/b.cuh", "shipped"}}));
  ASSERT_TRUE(source) << source.error().text();
  EXPECT_EQ(source->headers[0].contents, "own");
  EXPECT_EQ(source->headers[1].contents, "shipped");
}

TEST(TemplateSource, AMissingIncludeNamesItsPlaceAndTheRemedy) {
  const Files own{{"t/x.cu", "#include \"a.cuh\"\n"}, {"t/a.cuh", "#include \"gone.cuh\"\n"}};
  const auto source = read_template_source("t/x.cu", reader(own), reader({}));
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().text(), HasSubstr("a.cuh includes \"gone.cuh\": there is no file 't/gone.cuh'"));
  EXPECT_THAT(source.error().text(), HasSubstr("angle brackets"));
}

TEST(TemplateSource, EndlessIncludesAreRefused) {
  int count = 0;
  const FileReader endless = [&](const std::string&) -> Result<std::string> {
    return "#include \"h" + std::to_string(++count) + "\"\n";
  };
  const auto source = read_template_source("x.cu", endless, {});
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().text(), HasSubstr("more headers"));
  EXPECT_LT(count, 1000);
}

std::string hash_of(const json& document, const std::string& source_text, const std::string& header_text) {
  const std::string path = document["source"];
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  const auto parsed =
      parse_template(document.dump(2), "any.json",
                     reader({{path, "#include \"h.cuh\"\n" + source_text}, {folder + "h.cuh", header_text}}));
  return parsed ? parsed->content_hash : parsed.error().text();
}

TEST(ContentHash, ChangesWithSourceHeaderAndJson) {
  const std::string base = hash_of(sample_json(), "s", "h");
  EXPECT_THAT(base, ::testing::MatchesRegex("[0-9a-f]{32}"));
  EXPECT_EQ(base, hash_of(sample_json(), "s", "h"));
  EXPECT_NE(base, hash_of(sample_json(), "s2", "h"));
  EXPECT_NE(base, hash_of(sample_json(), "s", "h2"));
  json changed = sample_json();
  changed["parameters"][0]["values"].push_back(256);
  EXPECT_NE(base, hash_of(changed, "s", "h"));
}

TEST(ContentHash, DoesNotDependOnWhatIsWorthTrying) {
  json advised = sample_json();
  advised["description"] = "in other words";
  advised["policy"] = {{{"expr", "BM > 16"}, {"reason", "tiny"}}};
  advised["sum_order"]["words"] = {{{"word", "plain"}}};
  advised["preset"] = {{{"expr", "BM > 32"}, {"reason", "small"}}};
  json seeded = advised;
  seeded["seeds"] = {"BM=128"};
  const auto parsed = [](const json& document) {
    return parse_template(document.dump(), "any.json", reader(testing::sample_files())).value();
  };
  EXPECT_EQ(parsed(sample_json()).content_hash, parsed(advised).content_hash);
  EXPECT_EQ(parsed(advised).content_hash, parsed(seeded).content_hash);
  EXPECT_EQ(parsed(sample_json()).preset_hash, "");
  EXPECT_EQ(parsed(sample_json()).policy_hash, "");
  EXPECT_EQ(parsed(advised).policy_hash, parsed(seeded).policy_hash);
  EXPECT_NE(parsed(advised).preset_hash, parsed(sample_json()).preset_hash);
  EXPECT_NE(parsed(advised).preset_hash, parsed(seeded).preset_hash);
}

TEST(ContentHash, DoesNotDependOnWhereTheSourceLies) {
  json moved = sample_json();
  moved["source"] = "elsewhere/renamed.cu";
  EXPECT_EQ(hash_of(sample_json(), "s", "h"), hash_of(moved, "s", "h"));
}

TEST(ContentHash, DoesNotDependOnTheJsonsLayout) {
  const json document = sample_json();
  const auto compact = parse_template(document.dump(), "a", reader(testing::sample_files()));
  const auto indented = parse_template(document.dump(4), "b", reader(testing::sample_files()));
  EXPECT_EQ(compact.value().content_hash, indented.value().content_hash);
}

TEST(ContentHash, FieldsDoNotRunIntoEachOther) {
  const TemplateSource one{"x.cu", "ab", {{"h", "c"}}};
  const TemplateSource two{"x.cu", "a", {{"h", "bc"}}};
  const TemplateSource three{"x.cu", "ab", {{"hc", ""}}};
  EXPECT_NE(hash_template(one, "{}"), hash_template(two, "{}"));
  EXPECT_NE(hash_template(one, "{}"), hash_template(three, "{}"));
}

}  // namespace
}  // namespace pgtune::space
