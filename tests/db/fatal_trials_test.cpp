// SPDX-License-Identifier: MIT
// What is remembered of variants that crashed or hung, over all problems.
#include <gmock/gmock.h>

#include "tests/db/fixtures.hpp"

namespace pgtune::db {
namespace {

using ::testing::ElementsAre;
using testing::failed_trial;
using testing::good_trial;
using ::testing::IsEmpty;
using testing::TestSession;

class Killers : public ::testing::Test {
 protected:
  /// A trial in a session of its own, on the sample's problem.
  void save(const TrialRow& trial, const std::string& kind = "search") {
    sample_.session.kind = kind;
    save_trial(database_, sample_.begin(database_), trial);
  }
  static TrialRow built(const std::string& key, OutcomeKind kind) {
    TrialRow trial = good_trial(key);
    trial.report = {.outcome = {kind, kind == OutcomeKind::kOk ? "" : "because"}, .check = {}, .samples = {}};
    return trial;
  }
  [[nodiscard]] std::vector<std::string> fatal_trials(const std::string& driver = "580.10",
                                                      const std::string& nvrtc = "13.0") const {
    std::vector<std::string> keys;
    for (const FatalTrial& row : find_fatal_trials(database_, "sm_90a", driver, nvrtc))
      keys.push_back(row.variant_key + " " + std::string(to_string(row.outcome.kind)) + " " + row.cubin_hash);
    return keys;
  }

  Database database_ = Database::open_memory();
  TestSession sample_;
};

TEST_F(Killers, AreWhatCrashedOrHungWithWhereThatWas) {
  save(built("A=1", OutcomeKind::kOk));
  save(built("A=2", OutcomeKind::kCrashed));
  save(built("A=3", OutcomeKind::kWrongResult));
  save(failed_trial("A=4", OutcomeKind::kTimeout, "compile worker gave no answer within 60 s"));
  EXPECT_THAT(fatal_trials(), ElementsAre("A=2 crashed cubin-A=2", "A=4 timeout "));
  const FatalTrial row = find_fatal_trials(database_, "sm_90a", "580.10", "13.0").front();
  EXPECT_EQ(row.template_name, "sgemm_simt");
  EXPECT_EQ(row.template_hash, "c0ffee");
  EXPECT_EQ(row.outcome.reason, "because");
  EXPECT_EQ(row.problem, sample_.problem);
  EXPECT_EQ(row.session, 2);
  EXPECT_FALSE(row.date.empty());
}

TEST_F(Killers, ANewerOutcomeOnTheSameProblemLiftsIt) {
  save(built("A=1", OutcomeKind::kCrashed));
  save(built("A=1", OutcomeKind::kQuarantined));
  EXPECT_THAT(fatal_trials(), ElementsAre("A=1 crashed cubin-A=1")) << "quarantine is no evidence";
  sample_.problem = testing::shaped(64, 64, 64);
  save(built("A=1", OutcomeKind::kOk));
  EXPECT_THAT(fatal_trials(), ElementsAre("A=1 crashed cubin-A=1")) << "another problem proves nothing for this one";
  sample_.problem = testing::shaped(512, 512, 512);
  save(built("A=1", OutcomeKind::kOk), "bench");
  EXPECT_THAT(fatal_trials(), IsEmpty());
  save(built("A=1", OutcomeKind::kTimeout));
  EXPECT_THAT(fatal_trials(), ElementsAre("A=1 timeout cubin-A=1"));
}

TEST_F(Killers, HoldForTheSameDriverAndCompilersForTheSameNvrtc) {
  save(built("A=1", OutcomeKind::kCrashed));
  save(failed_trial("A=2", OutcomeKind::kCrashed, "compile worker killed by signal 11 (SIGSEGV)"));
  EXPECT_THAT(fatal_trials("590.1", "13.0"), ElementsAre("A=2 crashed "));
  EXPECT_THAT(fatal_trials("580.10", "13.1"), ElementsAre("A=1 crashed cubin-A=1"));
  sample_.device.driver_version = "590.1";
  save(built("A=1", OutcomeKind::kOk));
  EXPECT_THAT(fatal_trials("580.10", "13.1"), ElementsAre("A=1 crashed cubin-A=1")) << "right under another driver";
}

TEST_F(Killers, RecordedOnesAndOtherArchitecturesDoNotCount) {
  sample_.session.recorded = true;
  save(built("A=1", OutcomeKind::kCrashed));
  sample_.session.recorded = false;
  sample_.device.architecture = "sm_80";
  save(built("A=1", OutcomeKind::kCrashed));
  EXPECT_THAT(fatal_trials(), IsEmpty());
}

}  // namespace
}  // namespace pgtune::db
