-- SPDX-License-Identifier: MIT
-- Schema 4: the words of the field. Launches timed together are a sample (was: block); the library that variants are
-- compared with is the baseline (was: reference); what a problem's numbers are is its dtype (was: math mode).

ALTER TABLE blocks RENAME TO samples;
ALTER TABLE round_blocks RENAME TO round_samples;
ALTER TABLE reference_reports RENAME TO baseline_reports;
ALTER TABLE problems RENAME COLUMN math_mode TO dtype;
ALTER TABLE best RENAME COLUMN reference_first_s TO baseline_first_s;
ALTER TABLE best RENAME COLUMN reference_best_s TO baseline_best_s;

-- Inside a JSON string a quote is escaped, so that a key with both of its quotes and the colon is nothing but a key.
UPDATE best SET answer_json =
  replace(replace(replace(replace(replace(replace(answer_json,
    '"ratio_to_reference":', '"ratio_to_baseline":'),
    '"reference_clock_hz":', '"baseline_clock_hz":'),
    '"reference_first_s":', '"baseline_first_s":'),
    '"reference_best_s":', '"baseline_best_s":'),
    '"reference_energy":', '"baseline_energy":'),
    '"reference":', '"baseline":');
