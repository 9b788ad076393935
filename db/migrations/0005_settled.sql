-- SPDX-License-Identifier: MIT
-- Schema 5: settled samples, which begin once their contender has run until the GPU's clock no longer moved, with the
-- length of that lead-in and the power drawn; the stage in which the baseline's steady run shows whether a problem meets
-- the power cap.

ALTER TABLE samples ADD COLUMN lead_in_s REAL;
ALTER TABLE samples ADD COLUMN power_w REAL;
ALTER TABLE round_samples ADD COLUMN lead_in_s REAL;
ALTER TABLE round_samples ADD COLUMN power_w REAL;

-- What was measured in short samples at the power cap is marked: over the final the cap held the clocks down for a
-- twentieth of the time or more. The driver's counter steps every tenth of a second, so that only sums mean something.
UPDATE best SET answer_json = json_set(answer_json, '$.sampling', 'unsettled')
WHERE json_valid(answer_json) AND (
  SELECT sum(round_samples.power_cap_s) > 0.05 * sum(round_samples.time_s)
  FROM contenders
  JOIN round_samples ON round_samples.contender = contenders.id
  JOIN stages ON stages.id = round_samples.stage
  WHERE contenders.session = best.session AND stages.name = 'final');
