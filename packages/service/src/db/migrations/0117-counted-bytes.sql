-- Bytes of a request that its account's storage was charged with at the end. Null: ended by a version that counted input and result only.
alter table invocation add column counted_bytes bigint;
-- Hash of the task, of requests whose task was shortened with the removal of their contents.
alter table invocation add column task_hash bytea;
