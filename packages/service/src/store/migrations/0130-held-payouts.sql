create table held_payout (
  payment_id text primary key references chain_payment,
  reason text not null,
  tries integer not null,
  held_at timestamptz not null,
  next_try_at timestamptz not null
);
comment on table held_payout is 'Payouts that the token refuses: tried again at next_try_at. Rows of payouts that have ended are removed.';
