-- The schema of version 2, with plants and a token.
PRAGMA application_id = 0x504c4e54;
PRAGMA user_version = 2;
CREATE TABLE plants (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    tag TEXT
) STRICT;
CREATE TABLE tokens (
    name TEXT PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    first_characters TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE log_mark (
    store BLOB NOT NULL,
    base BLOB NOT NULL,
    current BLOB NOT NULL,
    open INTEGER NOT NULL
) STRICT;
CREATE TABLE token_changes (
    made INTEGER NOT NULL,
    confirmed INTEGER NOT NULL
) STRICT;
INSERT INTO plants (id, name, tag) VALUES
    (-9223372036854775808, '', NULL),
    (1, 'Monstera deliciosa', 'indoor'),
    (2, 'Ficus lyrata', ''),
    (9223372036854775807, 'Größe 🌱' || char(0), NULL);
-- pst_0123456789ABCDEFGHIJabcdefghij0038H4se
INSERT INTO tokens (name, digest, first_characters, created_at, expires_at) VALUES
    ('first', x'98e60b2623c0e7db1d278992be9022f726c4a89486328a711a202e985fe8163a', 'pst_0123', 1763640000, NULL);
INSERT INTO log_mark (store, base, current, open) VALUES (x'00', x'01', x'02', 0);
INSERT INTO token_changes (made, confirmed) VALUES (3, 2);
