-- Run once, by a superuser, in any database: by the image when it makes its data folder, by `make stack` with psql.
-- `spanfuse` owns its database and makes its own tables in it; `grafana_reader` may read them, briefly, and no more.
\set ON_ERROR_STOP on
\getenv spanfuse_password SPANFUSE_DB_PASSWORD
\getenv reader_password GRAFANA_DB_PASSWORD

CREATE ROLE spanfuse LOGIN PASSWORD :'spanfuse_password';
CREATE ROLE grafana_reader LOGIN PASSWORD :'reader_password' CONNECTION LIMIT 20;
ALTER ROLE grafana_reader SET default_transaction_read_only = on;
ALTER ROLE grafana_reader SET statement_timeout = '5s';
ALTER ROLE grafana_reader SET idle_in_transaction_session_timeout = '10s';

CREATE DATABASE spanfuse OWNER spanfuse ENCODING 'UTF8' TEMPLATE template0;
REVOKE ALL ON DATABASE spanfuse FROM PUBLIC;
GRANT CONNECT ON DATABASE spanfuse TO grafana_reader;

\connect spanfuse
REVOKE ALL ON SCHEMA public FROM PUBLIC;
-- The name that the processor gives to it.
CREATE SCHEMA spanfuse AUTHORIZATION spanfuse;
GRANT USAGE ON SCHEMA spanfuse TO grafana_reader;
-- Also what a later version makes.
ALTER DEFAULT PRIVILEGES FOR ROLE spanfuse IN SCHEMA spanfuse GRANT SELECT ON TABLES TO grafana_reader;
ALTER ROLE grafana_reader SET search_path = spanfuse;
