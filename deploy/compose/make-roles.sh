# Runs once, when the database is made: one role owns the tables, and the service's own cannot change audit records.
psql --quiet --set=ON_ERROR_STOP=1 --username=postgres <<'SQL'
\set owner `cat /secrets/owner`
\set service `cat /secrets/service`
create role uam_owner login password :'owner';
create role uam login password :'service';
create database uam owner uam_owner;
SQL
