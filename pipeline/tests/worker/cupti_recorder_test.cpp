// SPDX-License-Identifier: MIT
// Activity records from a library that pretends to be CUPTI: opened, read, refused.
#include "pipeline/worker/cupti_recorder.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "pipeline/tests/worker/fake_cupti.hpp"
#include "tests/gpu/test_folder.hpp"

namespace pgtune::gpu {
namespace {

namespace fs = std::filesystem;
using pipeline::Activity;
using pipeline::ActivityKind;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A record of so many bytes; members are put where CUPTI 13.0 has them, whatever pgtune takes them to be.
class Raw {
 public:
  explicit Raw(std::size_t bytes) : bytes_(bytes, 0xa5) {}
  template <typename Value>
  Raw& put(std::size_t offset, Value value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
    return *this;
  }
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

std::vector<std::uint8_t> copy_record(std::uint8_t kind, std::uint64_t bytes, std::uint64_t start, std::uint64_t end) {
  constexpr std::size_t kMemcpy6Bytes = 96;
  return Raw(kMemcpy6Bytes)
      .put<std::uint32_t>(0, 1)
      .put(4, kind)
      .put(8, bytes)
      .put(16, start)
      .put(24, end)
      .put<std::uint32_t>(40, 13)
      .put<std::uint32_t>(44, 501)
      .put<std::uint64_t>(64, 0)
      .bytes();
}
std::vector<std::uint8_t> kernel_record(const char* name, std::uint64_t start, std::uint64_t end) {
  constexpr std::size_t kKernel10Bytes = 216;
  return Raw(kKernel10Bytes)
      .put<std::uint32_t>(0, 10)
      .put(16, start)
      .put(24, end)
      .put<std::uint32_t>(48, 14)
      .put<std::uint32_t>(92, 502)
      .put(104, name)
      .put(144, (std::uint64_t{3} << 32) + 5)
      .bytes();
}
std::vector<std::uint8_t> fill_record(std::uint64_t bytes, std::uint64_t start, std::uint64_t end) {
  constexpr std::size_t kMemset4Bytes = 88;
  return Raw(kMemset4Bytes)
      .put<std::uint32_t>(0, 2)
      .put(8, bytes)
      .put(16, start)
      .put(24, end)
      .put<std::uint32_t>(40, 15)
      .put<std::uint32_t>(44, 503)
      .put<std::uint64_t>(64, 0)
      .bytes();
}

class Cupti : public ::testing::Test {
 protected:
  /// A place with that library as the one for CUDA 13.
  [[nodiscard]] LibraryPlace place(const std::string& name, const char* library) const {
    const fs::path folder = folder_.path() / name;
    fs::create_directories(folder);
    // Not over one that may be open.
    if (library != nullptr) fs::copy_file(library, folder / "libcupti.so.13", fs::copy_options::skip_existing);
    return {name, {folder}};
  }
  /// The pretended CUPTI opened, with its state for the test.
  std::unique_ptr<ActivityRecorder> open() {
    const LibraryPlace good = place("good", PGTUNE_FAKE_CUPTI);
    auto recorder = CuptiRecorder::open({good});
    EXPECT_TRUE(recorder) << recorder.error().text();
    void* const handle = ::dlopen((good.folders.front() / "libcupti.so.13").c_str(), RTLD_NOW | RTLD_NOLOAD);
    EXPECT_NE(handle, nullptr);
    cupti_ = reinterpret_cast<test::FakeCuptiOf*>(::dlsym(handle, "fake_cupti"))();
    ::dlclose(handle);
    return std::move(*recorder);
  }

  TestFolder folder_;
  test::FakeCupti* cupti_ = nullptr;
};

TEST_F(Cupti, RecordsBecomePlainValues) {
  const auto recorder = open();
  ASSERT_TRUE(recorder->start());
  EXPECT_THAT(cupti_->enabled, ElementsAre(1U, 2U, 10U));
  cupti_->records = {copy_record(1, 4096, 100, 200), kernel_record("product", 210, 300), copy_record(2, 512, 310, 320),
                     fill_record(64, 205, 209),      copy_record(8, 32, 330, 340),       Raw(64).put(0, 4).bytes()};
  const auto taken = recorder->take();
  ASSERT_TRUE(taken) << taken.error().text();
  ASSERT_EQ(taken->size(), 5U);  // what is of another kind is none
  EXPECT_EQ(cupti_->buffers, 2);
  const Activity &in = (*taken)[0], &kernel = (*taken)[1], &out = (*taken)[2], &fill = (*taken)[3],
                 &inside = (*taken)[4];
  EXPECT_EQ(in.kind, ActivityKind::kCopyIn);
  EXPECT_EQ(in.bytes, 4096);
  EXPECT_EQ(in.start_ns, 100);
  EXPECT_EQ(in.end_ns, 200);
  EXPECT_EQ(in.stream, 13U);
  EXPECT_EQ(in.call, 501U);
  EXPECT_EQ(in.graph_node, 0U);
  EXPECT_EQ(kernel.kind, ActivityKind::kKernel);
  EXPECT_EQ(kernel.name, "product");
  EXPECT_EQ(kernel.start_ns, 210);
  EXPECT_EQ(kernel.end_ns, 300);
  EXPECT_EQ(kernel.stream, 14U);
  EXPECT_EQ(kernel.call, 502U);
  EXPECT_EQ(kernel.graph_node, (std::uint64_t{3} << 32) + 5);
  EXPECT_EQ(out.kind, ActivityKind::kCopyOut);
  EXPECT_EQ(fill.kind, ActivityKind::kInside);
  EXPECT_EQ(fill.bytes, 64);
  EXPECT_EQ(fill.stream, 15U);
  EXPECT_EQ(fill.call, 503U);
  EXPECT_EQ(inside.kind, ActivityKind::kInside);
  const auto none = recorder->take();
  ASSERT_TRUE(none);
  EXPECT_THAT(*none, IsEmpty());  // they are taken once
}

TEST_F(Cupti, StopsWhenItIsToldAndWhenItGoes) {
  auto recorder = open();
  ASSERT_TRUE(recorder->start());
  recorder->stop();
  EXPECT_THAT(cupti_->enabled, IsEmpty());
  ASSERT_TRUE(recorder->start());
  EXPECT_THAT(cupti_->enabled, ElementsAre(1U, 2U, 10U));
  recorder.reset();
  EXPECT_THAT(cupti_->enabled, IsEmpty());
  const auto disabled = std::count(cupti_->calls.begin(), cupti_->calls.end(), "cuptiActivityDisable 10");
  EXPECT_EQ(disabled, 2);
}

TEST_F(Cupti, ABufferThatComesLateIsForNobody) {
  auto recorder = open();
  ASSERT_TRUE(recorder->start());
  recorder->stop();
  auto other = open();
  cupti_->records = {copy_record(1, 4096, 100, 200)};
  const auto late = recorder->take();
  ASSERT_TRUE(late);
  EXPECT_THAT(*late, IsEmpty());
  ASSERT_TRUE(other->start());
  EXPECT_THAT(other->take().value(), IsEmpty());
}

TEST_F(Cupti, WhatIsRefusedHasCuptisWordsAndLeavesNothingOn) {
  const auto recorder = open();
  cupti_->status["cuptiActivityEnable 10"] = 35;
  const auto refused = recorder->start();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(refused.error().text(),
            "cuptiActivityEnable came back with CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35); the driver lets "
            "administrators alone use it");
  EXPECT_THAT(cupti_->enabled, IsEmpty());
  cupti_->status = {{"cuptiActivityRegisterCallbacks", 39}};
  EXPECT_THAT(recorder->start().error().text(),
              AllOf(HasSubstr("cuptiActivityRegisterCallbacks came back with an error (39)"),
                    HasSubstr("another profiler watches this process")));
  cupti_->status.clear();
  EXPECT_TRUE(recorder->start());
}

TEST_F(Cupti, EachFailureIsAReasonAndNoRecordIsKept) {
  for (const char* function : {"cuptiActivityFlushAll", "cuptiActivityGetNumDroppedRecords"}) {
    SCOPED_TRACE(function);
    const auto recorder = open();
    cupti_->status.clear();
    ASSERT_TRUE(recorder->start());
    cupti_->records = {copy_record(1, 4096, 100, 200)};
    cupti_->status[function] = 999;
    const auto taken = recorder->take();
    ASSERT_FALSE(taken);
    EXPECT_THAT(taken.error().text(), AllOf(HasSubstr(function), HasSubstr("(999)")));
    cupti_->status.clear();
    cupti_->records.clear();
    EXPECT_THAT(recorder->take().value(), IsEmpty());
  }
  const auto recorder = open();
  ASSERT_TRUE(recorder->start());
  cupti_->dropped = 7;
  EXPECT_EQ(recorder->take().error().text(), "7 records were lost");
  cupti_->dropped = 0;
  cupti_->records = {copy_record(1, 4096, 100, 200)};
  cupti_->status["cuptiActivityGetNextRecord"] = 999;
  EXPECT_THAT(recorder->take().error().text(), HasSubstr("cuptiActivityGetNextRecord came back with an error (999)"));
  cupti_->records = {copy_record(1, 4096, 100, 200)};
  cupti_->status["cuptiActivityGetNextRecord"] = 21;  // incomplete: the end of what the buffer says
  EXPECT_THAT(recorder->take().value(), IsEmpty());
}

TEST_F(Cupti, SaysItsTimeAndTheNumbersOfStreams) {
  const auto recorder = open();
  cupti_->now_ns = 1'700'000'000'000'000'000;
  EXPECT_EQ(recorder->now_ns().value(), 1'700'000'000'000'000'000);
  EXPECT_EQ(recorder->number_of(reinterpret_cast<void*>(std::uintptr_t{6})).value(), 7U);
  EXPECT_THAT(recorder->number_of(nullptr).error().text(), HasSubstr("20"));
  EXPECT_THAT(recorder->number_of(reinterpret_cast<void*>(std::uintptr_t{1})).error().text(), HasSubstr("20"));
  cupti_->status = {{"cuptiGetTimestamp", 15}, {"cuptiGetStreamIdEx", 20}};
  EXPECT_THAT(recorder->now_ns().error().text(), HasSubstr("cuptiGetTimestamp"));
  EXPECT_THAT(recorder->number_of(nullptr).error().text(), HasSubstr("cuptiGetStreamIdEx"));
}

TEST_F(Cupti, OneThatIsOldOrLacksAFunctionIsPassedOver) {
  const LibraryPlace none = place("none", nullptr), old = place("old", PGTUNE_FAKE_CUPTI_OLD),
                     lacking = place("lacking", PGTUNE_FAKE_CUPTI_LACKING), good = place("good", PGTUNE_FAKE_CUPTI);
  const auto refused = CuptiRecorder::open({none, old, lacking});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(refused.error().text(),
              AllOf(HasSubstr("cannot load CUPTI"), HasSubstr("has CUPTI's interface 25, older than CUDA 12.8's, 26"),
                    HasSubstr("is no CUPTI with activity records"), HasSubstr("PGTUNE_CUDA_HOME")));
  EXPECT_TRUE(CuptiRecorder::open({none, old, lacking, good}));
}

TEST_F(Cupti, TheOneOfThisMachineRecordsOrSaysWhyNot) {
  const auto recorder = CuptiRecorder::open(library_places());
  if (!recorder) GTEST_SKIP() << recorder.error().text();
  const auto started = (*recorder)->start();
  if (!started) {
    // As without a driver.
    EXPECT_THAT(started.error().text(), HasSubstr("came back with"));
    return;
  }
  EXPECT_THAT((*recorder)->take().value(), IsEmpty());
  EXPECT_GT((*recorder)->now_ns().value(), 0);
}

}  // namespace
}  // namespace pgtune::gpu
