-- The living keys of an account are counted under its lock, and the newest are listed, however many it has had; dead ones are removed.
create index api_key_living on api_key (account_id, (coalesce(expires_at, 'infinity'))) where kind = 'key' and revoked_at is null;
create index api_key_created on api_key (account_id, created_at) where kind = 'key';
create index api_key_ended on api_key ((least(revoked_at, expires_at))) where kind = 'key';
