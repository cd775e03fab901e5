#!/bin/sh
# Run once by PostgreSQL's image, when its volume is empty: the role that Antiphon uses, which is no superuser, and the
# database that it owns. The password is read by psql itself, so that it stands on no command line.
set -eu
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER}" --dbname=postgres <<'SQL'
\set password `cat "${DATABASE_PASSWORD_FILE:-/run/secrets/database_password}"`
CREATE ROLE antiphon LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'password';
CREATE DATABASE antiphon OWNER antiphon;
REVOKE ALL ON DATABASE antiphon FROM PUBLIC;
SQL
