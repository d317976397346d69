#!/bin/sh
# Run by Patroni once, on the first primary, with a connection string of the superuser.
set -eu
psql "$1" --set=ON_ERROR_STOP=1 --set=password="$AGENT_NETWORK_PASSWORD" <<'SQL'
create role agent_network login password :'password';
-- It sees which standbys are synchronous, for /readyz and metrics.
grant pg_monitor to agent_network;
create database agent_network owner agent_network;
SQL
