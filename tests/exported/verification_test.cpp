// SPDX-License-Identifier: MIT
// `pgtune export header --verify` with the real compilers and a consumer worker that only answers: what one on a GPU
// finds is tested there.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tests/exported/sample_export.hpp"
#include "tuner/model/json.hpp"
#include "tuner/protocol/codec.hpp"

namespace pgtune::tool::test {
namespace {

using testing::HasSubstr;

/// Compiles with the real worker, has an H200, and as a consumer answers what $ANSWER says where it is asked to settle
/// as long as the recorded results did.
std::string worker_script() {
  DeviceInfo device = sample_device();
  device.uuid = "GPU-a0a0a0a0";
  device.driver_version = "580.1";
  const nlohmann::json list = {{"devices", {device}}, {"nvrtc", "13.0"}, {"driver", "580.1"}};
  return fmt::format(R"(#!/bin/bash
given=("$@")
while [ $# -gt 0 ]; do
  case "$1" in --role) role=$2 ;; --library) library=$2 ;; esac
  shift
done
case "$role" in
  list) echo '{}' ;;
  consumer)
    nm -D "$library" | grep -q pgtune_consumer_run || exit 9
    while read -r line; do
      id=$(sed 's/.*"id":\([0-9]*\).*/\1/' <<<"$line")
      body='{{"protocol":{},"role":"consumer","nvrtc_version":"","device":null}}'
      case "$line" in
        *'"op":"rows"'*)
          case "$line" in *'"ends":[32,512]'*'"first_m":1'*) body=$ROWS ;; *) exit 6 ;; esac ;;
        *'"op":"check"'*) 
          [ "$ANSWER" = dies ] && exit 7
          case "$line" in *'"sample_s":0.25'*'"settle_s":0.5'*) body=$ANSWER ;; *) exit 8 ;; esac ;;
      esac
      echo "{{\"id\":$id,\"ok\":true,\"body\":$body}}"
    done ;;
  *) exec '{}-worker' "${{given[@]}}" ;;
esac
)",
                     list.dump(), protocol::kProtocolVersion, PGTUNE_PROGRAM);
}

class ExportVerification : public testing::Test {
 protected:
  /// One folder, so that kernels are compiled once.
  static void SetUpTestSuite() {
    folder_ = std::make_unique<ExportFolder>("");
    folder_->write("worker", worker_script());
    ASSERT_EQ(folder_->run("chmod +x worker"), 0);
  }
  static void TearDownTestSuite() { folder_.reset(); }

  /// The command's exit code; what it printed is in output_.
  int run(const std::string& answer, const std::string& environment = "", const std::string& options = "-o x.hpp") {
    folder_->run("rm -f x.*");
    return folder_->run(fmt::format("ANSWER='{}' {} PGTUNE_WORKER=$PWD/worker PGTUNE_LOCK_DIR=$PWD XDG_CACHE_HOME={} "
                                    "HOME=$PWD '{}' export header --db '{}/recordings/h200-bf16-settled.db.zst' {}",
                                    answer, environment, shared_cache(), PGTUNE_PROGRAM, PGTUNE_SOURCE_DIR, options),
                        &output_);
  }
  [[nodiscard]] bool written() const { return std::filesystem::exists(folder_->path() / "x.hpp"); }

  static inline std::unique_ptr<ExportFolder> folder_;
  std::string output_;
};

constexpr const char* kSame =
    R"({"wrong":"","run_s":[2e-4,1.01e-4],"bare_s":[2e-4,1e-4],"settled_run_s":[1.4e-4,1.5e-4,9],"workspace_bytes":0})";

TEST_F(ExportVerification, WhereThereIsAGpuOfTheClassEveryEntryIsComparedAndTimed) {
  EXPECT_EQ(run(kSame), 0) << output_;
  EXPECT_TRUE(written());
  EXPECT_THAT(output_, HasSubstr("verified on GPU-a0a0a0a0: 2 entries give the worker's bits; time in the program over "
                                 "the worker's launch 1.0050 (1.0050 to 1.0050, 2 of 2 within 0.5 %), over times "
                                 "stored by other boards of the class "));
  EXPECT_EQ(run(kSame, "", "--split -o x.hpp --verify"), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("2 entries give the worker's bits"));
}

TEST_F(ExportVerification, NothingIsWrittenWhereAKernelIsWrongOrEndsTheWorker) {
  EXPECT_EQ(run(R"({"wrong":"its result differs","run_s":[],"bare_s":[],"settled_run_s":[],"workspace_bytes":0})"), 1)
      << output_;
  EXPECT_THAT(output_, HasSubstr("in a program: its result differs"));
  EXPECT_THAT(output_, HasSubstr("nothing was written"));
  EXPECT_FALSE(written());
  EXPECT_EQ(run("dies"), 1) << output_;
  EXPECT_THAT(output_, HasSubstr("in a program: consumer worker exited with 7"));
  EXPECT_FALSE(written());
}

TEST_F(ExportVerification, RowsOfFamiliesOfOneOrderAreCompared) {
  write_families((folder_->path() / "families.db").string());
  const auto export_families = [&](const std::string& rows) {
    folder_->run("rm -f x.*");
    return folder_->run(fmt::format("ROWS='{}' PGTUNE_WORKER=$PWD/worker PGTUNE_LOCK_DIR=$PWD XDG_CACHE_HOME={} "
                                    "HOME=$PWD '{}' export header --db families.db -o x.hpp --verify",
                                    rows, shared_cache(), PGTUNE_PROGRAM),
                        &output_);
  };
  EXPECT_EQ(export_families(R"({"wrong":"","launches":700})"), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("rows of 700 products are equal bit for bit"));
  EXPECT_TRUE(written());
  EXPECT_EQ(export_families(R"({"wrong":"row 7 of 32 has other bits beside NaN","launches":9})"), 1) << output_;
  EXPECT_THAT(output_, HasSubstr("1..512x1536x768 bf16 nt in a program: row 7 of 32 has other bits beside NaN"));
  EXPECT_FALSE(written());
}

TEST_F(ExportVerification, WhereItCannotBeDoneThatIsSaidAndAnErrorOnlyIfItWasAskedFor) {
  EXPECT_EQ(run(kSame, "CXX= PGTUNE_CXX=/nowhere"), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("not verified: no host compiler: PGTUNE_CXX is '/nowhere'"));
  EXPECT_TRUE(written());
  EXPECT_EQ(run(kSame, "CXX= PGTUNE_CXX=/nowhere", "-o x.hpp --verify"), 3) << output_;
  EXPECT_THAT(output_, HasSubstr("the export cannot be verified: no host compiler"));
  EXPECT_FALSE(written());
  EXPECT_EQ(run(kSame, "CXX= PGTUNE_CXX=/nowhere", "-o x.hpp --no-verify"), 0) << output_;
  EXPECT_THAT(output_, testing::Not(HasSubstr("verified")));
  EXPECT_EQ(run(kSame, "", "-o x.hpp --verify --no-verify"), 2) << output_;
}

}  // namespace
}  // namespace pgtune::tool::test
