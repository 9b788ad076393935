// SPDX-License-Identifier: MIT
#include "tuner/protocol/codec.hpp"

#include <gmock/gmock.h>

namespace pgtune::protocol {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Variant a_variant() { return {"sgemm_simt", {{"BM", std::int64_t{128}}, {"COPY", std::string("cp_async")}}}; }

LaunchPlan a_plan() {
  LaunchPlan plan;
  KernelLaunch kernel;
  kernel.symbol = "sgemm";
  kernel.grid = {8, 4, 1};
  kernel.arguments = {{ArgumentKind::kPointer, Operand::kB, 0, 0}, {ArgumentKind::kInt32, Operand::kA, 7, 0}};
  plan.kernels = {kernel};
  plan.workspace_bytes = 1024;
  return plan;
}

BuildInfo a_build() {
  BuildInfo build;
  build.cubin_path = "/cache/x.cubin";
  build.registers = 128;
  return build;
}

/// Through the text of a line, as between the processes.
template <typename T>
T over_the_wire(const T& value) {
  const auto reply = decode_reply(encode(Reply{1, json(value), false}));
  return reply.value().body.value().template get<T>();
}

TEST(Protocol, BuildRequestCarriesTheSourceByValue) {
  const BuildRequest sent{
      7,
      a_variant(),
      std::make_shared<const TemplateSource>(TemplateSource{"t.cu", "line 1\n\"line\" 2\t\\", {{"device/x.cuh", "h"}}}),
      {{"BM", "128"}, {"COPY", "LABEL_cp_async"}},
      "sm_90a"};
  const BuildRequest got = over_the_wire(sent);
  EXPECT_EQ(got.id, 7);
  EXPECT_EQ(got.variant, sent.variant);
  EXPECT_EQ(*got.source, *sent.source);
  EXPECT_EQ(got.defines, sent.defines);
  EXPECT_EQ(got.architecture, "sm_90a");
}

TEST(Protocol, TrialAndItsReportSurvive) {
  const TrialRequest request = over_the_wire(TrialRequest{3, {a_variant(), a_plan(), a_build()}, 1.5e-3});
  EXPECT_EQ(request.built.variant, a_variant());
  EXPECT_EQ(request.built.plan, a_plan());
  EXPECT_EQ(request.built.build, a_build());
  EXPECT_EQ(request.incumbent_s, 1.5e-3);

  TrialDone done;
  done.report.outcome = {OutcomeKind::kUnstable, "spread"};
  done.report.cut = true;
  done.report.check = CheckReport{0.5, 1e-7};
  done.report.samples = {{Stage::kScreen, 0, 2, 10, 0.25, 1e9}};
  EXPECT_EQ(over_the_wire(done).report, done.report);
}

TEST(Protocol, RoundKeepsWhoFailed) {
  const RoundRequest request =
      over_the_wire(RoundRequest{{BuiltVariant{a_variant(), a_plan(), a_build()}, BaselineAlgorithm{2}}, {1, 0}, 4});
  ASSERT_EQ(request.contenders.size(), 2U);
  ASSERT_NE(variant_of(request.contenders[0]), nullptr);
  EXPECT_EQ(variant_of(request.contenders[0])->plan, a_plan());
  EXPECT_EQ(contender_of(request.contenders[0]), Contender(a_variant()));
  EXPECT_EQ(contender_of(request.contenders[1]), Contender(BaselineAlgorithm{2}));
  EXPECT_EQ(request.order, (std::vector<int>{1, 0}));
  EXPECT_EQ(request.round, 4);

  const Sample sample{Stage::kFinal, 4, 1, 10, 0.5, 1e9};
  const RoundReport sent{{std::nullopt, sample}, {{OutcomeKind::kCrashed, "why"}, {}}};
  const RoundReport got = over_the_wire(sent);
  EXPECT_EQ(got.samples, sent.samples);
  EXPECT_EQ(got.outcomes, sent.outcomes);
}

TEST(Protocol, RoundNamesItsStageAndTheLengthOfItsSamples) {
  const RoundRequest sent{{}, {}, 2, Stage::kRace, 10e-3};
  const RoundRequest got = over_the_wire(sent);
  EXPECT_EQ(got.stage, Stage::kRace);
  EXPECT_EQ(got.sample_s, 10e-3);
  json unknown = sent;
  unknown["stage"] = "semifinal";
  EXPECT_THAT(decode_body<RoundRequest>(unknown, "round request").error().text(), HasSubstr("semifinal"));

  Sample sample{Stage::kRace, 2, 0, 10, 0.5, 1e9, true};
  sample.temperature_c = 61;
  sample.power_cap_s = 0.4;
  sample.thermal_s = 0.1;
  EXPECT_EQ(over_the_wire(RoundReport{{sample}, {{}}}).samples[0], sample);
}

TEST(Protocol, PrepareCarriesProblemAndConditions) {
  PrepareRequest sent;
  sent.problem = parse_shape("128x256x64").and_then(with_default_strides).value();
  sent.conditions = {Regime::kBurst, L2State::kWarm, DataDistribution::kNormal, 9, 1.5e9};
  const PrepareRequest got = over_the_wire(sent);
  EXPECT_EQ(got.problem, sent.problem);
  EXPECT_EQ(got.conditions, sent.conditions);
  EXPECT_FALSE(got.alone);
  sent.alone = true;
  EXPECT_TRUE(over_the_wire(sent).alone);
  json without = sent;
  without.erase("conditions");
  EXPECT_THAT(decode_body<PrepareRequest>(without, "prepare request").error().text(), HasSubstr("'conditions'"));
}

TEST(Protocol, EnergyOfAContenderAndOfTheIdleGpu) {
  EnergyRequest sent;
  sent.contender = BuiltVariant{a_variant(), a_plan(), a_build()};
  sent.lead_in_s = 10;
  sent.window_s = 7;
  sent.max_uncertainty = 0.02;
  sent.index = 2;
  const EnergyRequest got = over_the_wire(sent);
  ASSERT_TRUE(got.contender);
  const BuiltVariant* const built = variant_of(*got.contender);
  ASSERT_NE(built, nullptr);
  EXPECT_EQ(built->variant, a_variant());
  EXPECT_EQ(built->plan, a_plan());
  EXPECT_EQ(built->build, a_build());
  EXPECT_EQ(got.lead_in_s, 10);
  EXPECT_EQ(got.window_s, 7);
  EXPECT_EQ(got.max_uncertainty, 0.02);
  EXPECT_EQ(got.index, 2);

  sent.contender = BaselineAlgorithm{3};
  EXPECT_EQ(contender_of(over_the_wire(sent).contender.value()), Contender(BaselineAlgorithm{3}));
  EXPECT_FALSE(over_the_wire(EnergyRequest{}).contender);
}

TEST(Protocol, EnergyWindowsAndCeilingsSurvive) {
  EnergyWindow window;
  window.window_s = 5;
  window.energy_j = 3000;
  window.launches = 100;
  window.power_cap_share = 1;
  EXPECT_EQ(over_the_wire(window), window);
  const Ceilings ceilings{4e12, 6e12, 20e12, {{"f32", 60e12}}, 1.9e9};
  EXPECT_EQ(over_the_wire(ceilings), ceilings);
}

TEST(Protocol, ErrorRepliesKeepKindContextAndLostContext) {
  const auto reply =
      decode_reply(encode(Reply{9, tl::unexpected<Error>(Error{ErrorKind::kUsage, "too large", {"a", "b"}}), true}));
  ASSERT_TRUE(reply);
  EXPECT_TRUE(reply->context_lost);
  ASSERT_FALSE(reply->body);
  EXPECT_EQ(reply->body.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(reply->body.error().text(), "b: a: too large");
}

TEST(Protocol, TextThatIsNotUtf8DoesNotThrow) {
  const auto request = decode_request(encode(Request{1, "build", {{"log", "caf\xe9"}}}));
  ASSERT_TRUE(request);
  EXPECT_THAT(request->body.at("log").get<std::string>(), HasSubstr("caf"));
}

TEST(Protocol, LinesHoldNoNewline) {
  EXPECT_EQ(encode(Request{1, "build", {{"log", "a\nb"}}}).find('\n'), std::string::npos);
}

TEST(Protocol, MalformedLinesSayWhatIsWrong) {
  const auto text = [](std::string_view line) { return decode_reply(line).error().text(); };
  EXPECT_THAT(text("hello there"), HasSubstr("malformed reply line 'hello there'"));
  EXPECT_THAT(text(""), HasSubstr("malformed reply"));
  EXPECT_THAT(text("[1]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(text(R"({"ok":true,"body":{}})"), HasSubstr("'id'"));
  EXPECT_THAT(text(R"({"id":1,"ok":true})"), HasSubstr("'body'"));
  EXPECT_THAT(text(R"({"id":1,"ok":false})"), HasSubstr("'error'"));
  EXPECT_THAT(text(R"({"id":1,"ok":"yes","body":{}})"), HasSubstr("boolean"));
  EXPECT_THAT(text(R"({"id":1,"ok":true,"body":{},"context_lost":3})"), HasSubstr("boolean"));
  EXPECT_THAT(decode_request(R"({"id":1})").error().text(), HasSubstr("'op'"));
  EXPECT_THAT(text("{\"id\":1,\"x\":\"" + std::string(1000, 'y')), HasSubstr("yyy...'"));
  EXPECT_THAT(text(std::string(80, 'y')), HasSubstr("line '" + std::string(80, 'y') + "'"));
}

TEST(Protocol, LinesOverTheLimitAreRefusedUnread) {
  EXPECT_THAT(decode_request(std::string(kMaxLineBytes + 1, ' ')).error().text(), HasSubstr("longer than 64 MiB"));
  EXPECT_THAT(decode_request(std::string(kMaxLineBytes, ' ')).error().text(), HasSubstr("parse error"));
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(decode_reply("{\"id\":1,\"ok\":true,\"body\":" + deep + "}").error().text(),
              HasSubstr("nested more than 64 deep"));
}

TEST(Protocol, BodiesOfTheWrongShapeAreErrors) {
  EXPECT_THAT(decode_body<BuildDone>(json{{"id", 1}}, "build reply").error().text(),
              AllOf(HasSubstr("malformed build reply"), HasSubstr("'outcome'")));
  EXPECT_FALSE(decode_body<TrialDone>(json(3), "trial report"));
  json done = TrialDone{};
  done["report"]["outcome"]["kind"] = "glorious";
  EXPECT_THAT(decode_body<TrialDone>(done, "trial report").error().text(), HasSubstr("glorious"));
}

TEST(Protocol, HelloOfACompileWorkerHasNoDevice) {
  EXPECT_EQ(Hello{}.protocol, kProtocolVersion);
  EXPECT_FALSE(over_the_wire(Hello{kProtocolVersion, "compile", "13.0", {}}).device);
  DeviceInfo device;
  device.name = "Fake GPU";
  const Hello hello = over_the_wire(Hello{kProtocolVersion, "measure", "13.0", device});
  EXPECT_EQ(hello.protocol, kProtocolVersion);
  ASSERT_TRUE(hello.device);
  EXPECT_EQ(hello.device->name, "Fake GPU");
}

}  // namespace
}  // namespace pgtune::protocol
