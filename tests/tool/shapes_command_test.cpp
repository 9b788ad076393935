// SPDX-License-Identifier: MIT
// `pgtune shapes`: lines that --shapes reads, and what it refuses.
#include "tests/tool/cli_fixture.hpp"

namespace pgtune::tool::test {
namespace {

using nlohmann::json;

class ShapesTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    write("config.json",
          R"({"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864, "num_attention_heads": 14,
              "num_hidden_layers": 24, "num_key_value_heads": 2, "vocab_size": 151936, "torch_dtype": "bfloat16"})");
  }
  Finished shapes(const std::vector<std::string>& more) {
    return pgtune({"shapes", "--model", path("config.json")}, more);
  }
};

TEST_F(ShapesTest, OneFamilyALine) {
  const Finished all = shapes({});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(all.out,
            "# qwen2, 24 layers. M: tokens of a batch\n"
            "1..8192x1152x896 nt bf16 epilogue bias  # query, key and value projection, 24 layers\n"
            "1..8192x896x896 nt bf16                 # output projection, 24 layers\n"
            "1..8192x9728x896 nt bf16                # gate and up projection, 24 layers\n"
            "1..8192x896x4864 nt bf16                # down projection, 24 layers\n"
            "1..8192x151936x896 nt bf16              # head over the vocabulary\n");
  EXPECT_EQ(pgtune({"shapes", "--model", path("")}).out, all.out) << "the folder is enough";
  EXPECT_THAT(shapes({"--tokens", "512", "--dtype", "f16", "--separate"}).out,
              HasSubstr("1..512x4864x896 nt f16               # gate and up projection, 2 x 24 layers\n"));
  EXPECT_THAT(shapes({"--dtype", "int8"}).out, Not(HasSubstr("bias"))) << "no int8 product adds one";
  EXPECT_THAT(shapes({"--tp", "2"}).out, HasSubstr("# qwen2, 24 layers, one of 2 GPUs."));
}

TEST_F(ShapesTest, AsJson) {
  const json document = json::parse(shapes({"--json", "--tp", "2"}).out);
  EXPECT_EQ(document.at("model_type"), "qwen2");
  EXPECT_EQ(document.at("gpus"), 2);
  EXPECT_EQ(document.at("families").size(), 5U);
  EXPECT_EQ(document.at("families").at(3),
            json::parse(R"({"shape": "1..8192x896x2432", "n": 896, "k": 2432, "layout": "nt", "epilogue": "none",
                            "uses": ["down projection, 24 layers"]})"));
}

TEST_F(ShapesTest, WhatItCannotReadIsAUsageError) {
  EXPECT_EQ(shapes({"--tp", "3"}).exit_code, 2);
  EXPECT_EQ(shapes({"--tp", "0"}).exit_code, 2);
  EXPECT_EQ(shapes({"--tokens", "99999999999"}).exit_code, 2);
  EXPECT_EQ(shapes({"--dtype", "fp4"}).exit_code, 2);
  EXPECT_EQ(pgtune({"shapes"}).exit_code, 2);
  const Finished absent = pgtune({"shapes", "--model", path("nothing.json")});
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_THAT(absent.err, HasSubstr("nothing.json': No such file or directory. Give a model's config.json"));
  write("config.json", "");
  EXPECT_THAT(shapes({}).err, HasSubstr("config.json' is empty. Give"));
  EXPECT_THAT(pgtune({"shapes", "--model", "/dev/zero"}).err, HasSubstr("'/dev/zero' is larger than 1 MiB. Give"));
  write("config.json", R"({"model_type": "mamba", "hidden_size": 2048})");
  const Finished unknown = shapes({});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.out, "");
  EXPECT_THAT(unknown.err, HasSubstr("the architecture 'mamba' is not known"));
}

}  // namespace
}  // namespace pgtune::tool::test
