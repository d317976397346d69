-- Requests that have ended and that the audit of the books has not looked at since their money last changed. Written in the transaction
-- that ends them, so that none is passed over, whatever its id and however long others stay open. What ended before is looked at anew.
create table unaudited_request (
  request_id text primary key,
  -- When its money last changed.
  since timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index unaudited_request_since on unaudited_request (since);
insert into unaudited_request (request_id, since) select id, completed_at from invocation where completed_at is not null;

alter table money_audit drop column request_id;
