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

-- The ranking's first is the winner, and is stored once: what only "best" had goes to the first row (clocks, cycles) or
-- to the answer (ties, the baseline's figures). Every version put the winner first; where it is not, it gets a row.
-- Objects are taken apart as text, so that no number loses a digit. What is no such JSON stays for db check to name.
UPDATE best SET answer_json =
  CASE
    WHEN NOT json_valid(answer_json) THEN answer_json
    WHEN json_type(answer_json, '$.best') IS NOT 'object' OR json_type(answer_json, '$.ranking') IS NOT 'array'
      THEN answer_json
    ELSE (
      WITH parts(best, ranking, first) AS (
        SELECT json_extract(answer_json, '$.best'), json_extract(answer_json, '$.ranking'),
               json_type(answer_json, '$.ranking[0]') IS 'object'
                 AND json_extract(answer_json, '$.ranking[0].variant') IS json_extract(answer_json, '$.best.variant')),
      halves(ranking, first, of_row, of_answer) AS (
        SELECT ranking, first,
               json_remove(best, '$.ties', '$.baseline_first_s', '$.baseline_best_s', '$.baseline_clock_hz'),
               json_remove(best, '$.variant', '$.build', '$.time_s', '$.tflops', '$.ratio_to_baseline',
                           '$.ratio_interval', '$.verdict', '$.cycles_ratio', '$.cycles_interval', '$.sm_clock_hz')
        FROM parts)
      SELECT json_set(json_patch(json_remove(answer_json, '$.best'), of_answer), '$.ranking', json(
        CASE
          WHEN first THEN json_set(ranking, '$[0]', json(json_patch(json_extract(ranking, '$[0]'), of_row)))
          WHEN json_array_length(ranking) = 0 THEN '[' || json_patch('{"spread":0}', of_row) || ']'
          ELSE '[' || json_patch('{"spread":0}', of_row) || ',' || substr(ranking, 2)
        END))
      FROM halves)
  END;
