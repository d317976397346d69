-- The scheme that pays for a request, as a column of its own: until now it was told by the name of the paying account. null: nobody pays.
-- 0141 fills it for the rows of before.
alter table invocation add column scheme text;
comment on column invocation.scheme is 'Payment scheme: treasury, exact or batch-settlement; null: a free call.';
alter table hold add column scheme text;
comment on column hold.scheme is 'Payment scheme of the request whose money is held; null: a withdrawal.';

create function scheme_of_account(account text) returns text language sql immutable as $$
  select case when account like 'channel:%' then 'batch-settlement' when account like 'payer:%' then 'exact'
              when account is not null then 'treasury' end
$$;

-- For processes of the release before, which run beside and do not write the column.
create function fill_invocation_scheme() returns trigger language plpgsql as $$
begin
  new.scheme := scheme_of_account(new.payer_ledger_id);
  return new;
end $$;
create trigger invocation_scheme before insert on invocation for each row
  when (new.scheme is null and new.payer_ledger_id is not null) execute function fill_invocation_scheme();
create function fill_hold_scheme() returns trigger language plpgsql as $$
begin
  new.scheme := scheme_of_account(new.ledger_account_id);
  return new;
end $$;
create trigger hold_scheme before insert on hold for each row
  when (new.scheme is null and new.id not like 'wdr\_%') execute function fill_hold_scheme();
