-- Contents of the requests of one account, oldest first: those of visitors are removed after hours, and when their account is full.
create index invocation_contents_of_account on invocation (account_id, completed_at)
  where completed_at is not null and content_removed_at is null;
