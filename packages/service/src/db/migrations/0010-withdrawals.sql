-- A withdrawal is a payment out whose subject is itself; its ledger account is the treasury that it was taken from.
alter table chain_payment drop constraint chain_payment_purpose_check;
alter table chain_payment add constraint chain_payment_purpose_check
  check (purpose in ('invocation', 'deposit', 'refund', 'withdrawal'));
create index chain_payment_treasury on chain_payment (ledger_account_id, created_at) where purpose in ('deposit', 'withdrawal');

-- Out of the treasury, and back when the token would not take it.
alter table transfer drop constraint transfer_kind_check;
alter table transfer add constraint transfer_kind_check
  check (kind in ('deposit', 'charge', 'refund', 'payout', 'withdrawal', 'return'));
