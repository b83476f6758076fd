-- The schema of version 2, with the plants and the token of `../../sqlite/schemas/2.sql`.
CREATE TABLE plants (
    id bigint PRIMARY KEY,
    name bytea NOT NULL,
    tag bytea
);
CREATE TABLE tokens (
    name text PRIMARY KEY,
    digest bytea NOT NULL UNIQUE,
    first_characters text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint
);
CREATE TABLE token_changes (
    id bigint PRIMARY KEY,
    made bigint NOT NULL
);
CREATE TABLE servers (
    id bigint PRIMARY KEY,
    confirmed bigint NOT NULL,
    seen_at timestamptz NOT NULL
);
CREATE TABLE plant_store_schema (version bigint PRIMARY KEY);
INSERT INTO plant_store_schema (version) VALUES (1), (2);
INSERT INTO plants (id, name, tag) VALUES
    (-9223372036854775808, '', NULL),
    (1, 'Monstera deliciosa', 'indoor'),
    (2, 'Ficus lyrata', ''),
    (9223372036854775807, convert_to('Größe 🌱', 'UTF8') || '\x00', NULL);
-- pst_0123456789ABCDEFGHIJabcdefghij0038H4se
INSERT INTO tokens (name, digest, first_characters, created_at, expires_at) VALUES
    ('first', '\x98e60b2623c0e7db1d278992be9022f726c4a89486328a711a202e985fe8163a', 'pst_0123', 1763640000, NULL);
INSERT INTO token_changes (id, made) VALUES (1, 3);
