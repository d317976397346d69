-- The signing domain of a token, so that what is owed in it can be signed while its chain does not answer.
alter table asset
  add column token_name text,
  add column token_version text,
  add column domain_separator text;
comment on column asset.domain_separator is 'EIP-712 domain separator of the token, as its chain told last; null: by a release before.';
