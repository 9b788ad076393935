// SPDX-License-Identifier: MIT
// A test's own operation on the GPU: buffers, guarded places and a checker, and variants of a template of its own.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "tests/gpu/launching_gpu.hpp"
#include "tuner/gpu/measure/check/checker.hpp"
#include "tuner/operation/operation_definition.hpp"
#include "tuner/template/variant_text.hpp"

namespace pgtune::gpu {

class OperationOnGpu : public testing::Test, protected LaunchingGpu {
 protected:
  static constexpr std::int64_t kRows = 7, kColumns = 96;  ///< the operation's M and N

  void SetUp() override {
    if (const auto why_not = open()) GTEST_SKIP() << *why_not;
  }

  /// Two copies of the operation's buffers, and its reference for the first. Both arguments are texts.
  void prepare(const std::string& json, const std::string& source) {
    const auto reference = [&](const std::string&) -> Result<std::string> { return source; };
    const auto parsed = operation::parse_operation(json, "operation.json", reference);
    ASSERT_TRUE(parsed) << parsed.error().text();
    operation_ = *parsed;
    problem_ = operation::make_problem(operation_, {{"M", kRows}, {"N", kColumns}}, std::nullopt).value();
    auto kernels = OperationKernels::create(driver_, *kernels_, problem_.operation, info_.architecture);
    ASSERT_TRUE(kernels) << kernels.error().text();
    own_ = std::move(*kernels);
    auto buffers = OperandBuffers::allocate(*kernels_, *own_, {DataDistribution::kUniform, 7}, 2, stream_.get());
    ASSERT_TRUE(buffers) << buffers.error().text;
    buffers_ = std::make_unique<OperandBuffers>(std::move(*buffers));
    auto checker = Checker::create(*kernels_, *buffers_, *own_, stream_.get());
    ASSERT_TRUE(checker) << checker.error().text;
    checker_ = std::move(*checker);
    ASSERT_TRUE(buffers_->add_guarded_places(driver_));
  }

  /// Of a template, given as texts; `parameters` over its defaults. Null, and a failure, where it does not build.
  std::unique_ptr<LoadedVariant> variant(const std::string& json, const std::string& source,
                                         const std::string& parameters) {
    const space::OperationInterface interface = operation_.interface();
    const auto read = [&](const std::string&) -> Result<std::string> { return source; };
    const auto definition = space::parse_template(json, "template.json", read, &interface);
    EXPECT_TRUE(definition) << definition.error().text();
    const Variant chosen = space::parse_variant(*definition, parameters).value();
    const auto built = build(*definition, {&chosen, 1}, problem_);
    EXPECT_TRUE(built.front()) << built.front().error().text();
    if (!built.front()) return nullptr;
    auto loaded = load(*built.front(), buffers_->places(), buffers_->guarded_places());
    EXPECT_TRUE(loaded) << loaded.error().text;
    return loaded ? std::move(*loaded) : nullptr;
  }

  operation::OperationDefinition operation_;
  Problem problem_;
  std::unique_ptr<OperationKernels> own_;
  std::unique_ptr<OperandBuffers> buffers_;
  std::unique_ptr<Checker> checker_;
};

}  // namespace pgtune::gpu
