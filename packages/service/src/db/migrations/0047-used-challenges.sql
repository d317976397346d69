-- A challenge is stored nowhere: its id carries what it is for, authenticated with the node's secret, so whoever asks for many takes
-- nobody's place. What was used is noted until it could not be used anyway.
drop table wallet_challenge;
create table used_challenge (
  id text primary key,
  expires_at timestamptz not null
);
create index used_challenge_expiry on used_challenge (expires_at);
