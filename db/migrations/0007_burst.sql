-- SPDX-License-Identifier: MIT
-- Schema 7: in the burst regime a sample's clock follows from the rest before it and not from the contender before, so
-- that short samples say there what they claim: schema 5's mark is taken from these results.

UPDATE best SET answer_json = json_set(answer_json, '$.sampling', 'short')
WHERE json_valid(answer_json) AND json_extract(answer_json, '$.sampling') = 'unsettled' AND session IN (
  SELECT sessions.id
  FROM sessions
  JOIN conditions ON conditions.id = sessions.conditions
  WHERE json_valid(conditions.conditions_json) AND json_extract(conditions.conditions_json, '$.regime') = 'burst');
