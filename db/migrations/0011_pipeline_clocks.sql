-- SPDX-License-Identifier: MIT
-- Schema 11: the clock of a pipeline's samples, and how long settled ones ran before.

ALTER TABLE pipeline_samples ADD COLUMN sm_clock_hz REAL;
ALTER TABLE pipeline_samples ADD COLUMN lead_in_s REAL;
