-- Why an invocation was cancelled; null for those cancelled before this was stored, and for those that were not.
alter table invocation add column cancel_reason text check (cancel_reason in ('cancelled_by_caller', 'bulk_decided'));

-- The events of one invocation, for who runs the node.
create index event_subject on event (subject_id);
