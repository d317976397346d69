-- Files in results: contents that become files of the caller when their request completes.
alter table file_blob add column request_id text;
create index file_blob_of_request on file_blob (request_id) where state = 'arriving' and request_id is not null;
comment on column file_blob.request_id is 'The request that has it in its result; null: an upload';

create table result_file (
  request_id text not null references invocation (id),
  owner_id text not null,
  sha256 bytea not null,
  primary key (request_id, sha256)
);
create index result_file_of_file on result_file (owner_id, sha256);
comment on table result_file is 'Files that the result of a completed request refers to: who may read the result may read them';
