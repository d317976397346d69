-- What an answer says in headers of its own: a repetition says it again. Null while it runs.
alter table idempotency add column answer_headers json;
