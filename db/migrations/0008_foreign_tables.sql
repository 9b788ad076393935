-- SPDX-License-Identifier: MIT
-- Schema 8: tables of other tools that `pgtune import` read. They are of no search: table_json is the whole of one as
-- tool/pgtune/foreign/foreign_table.hpp writes it, digest the hash of that text.

CREATE TABLE foreign_tables (
  id          INTEGER PRIMARY KEY,
  imported_at TEXT NOT NULL,
  origin      TEXT NOT NULL,
  kernel      TEXT NOT NULL,
  device      TEXT NOT NULL,
  digest      TEXT NOT NULL,
  table_json  TEXT NOT NULL
) STRICT;
