-- SPDX-License-Identifier: MIT
-- Schema 9: hardware counters of a variant, or of the baseline's algorithm (its library and description), on a problem under
-- conditions; the newest of each counts.

CREATE TABLE kernel_counters (
  id            INTEGER PRIMARY KEY,
  device        INTEGER NOT NULL REFERENCES devices,
  environment   INTEGER NOT NULL REFERENCES environments,
  problem       INTEGER NOT NULL REFERENCES problems,
  conditions    INTEGER NOT NULL REFERENCES conditions,
  variant       INTEGER REFERENCES variants,
  algorithm     TEXT,
  measured_at   TEXT NOT NULL,
  counters_json TEXT NOT NULL,
  CHECK ((variant IS NULL) <> (algorithm IS NULL))
) STRICT;
CREATE INDEX kernel_counters_by_problem ON kernel_counters (problem, conditions);
