-- A key that somebody got by signing in with a wallet: the oldest of these gives way when the account has as many keys as it may.
alter table api_key add column from_sign_in boolean not null default false;
