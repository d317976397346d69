-- An agent that bills directly is paid by a payment out whose subject is the request and which the agent itself submits (`bill`).
-- What it did not collect goes back to a wallet that paid as another payment (`return`), beside the refund of the request.
alter table chain_payment drop constraint chain_payment_purpose_check;
alter table chain_payment add constraint chain_payment_purpose_check
  check (purpose in ('invocation', 'deposit', 'refund', 'withdrawal', 'bill', 'return'));
create index chain_payment_bill on chain_payment (created_at, id) where purpose = 'bill' and state in ('claimed', 'broadcasting');

alter table transfer drop constraint transfer_kind_check;
alter table transfer add constraint transfer_kind_check
  check (kind in ('deposit', 'charge', 'fee', 'refund', 'payout', 'withdrawal', 'return', 'reversal', 'claim', 'bill', 'bill_return'));

-- What the agent asked for, and the header that answers it: the same bytes are shown again, by whichever process goes on.
create table agent_bill (
  request_id text primary key,
  payment_id text not null references chain_payment,
  terms text not null,
  header_name text not null check (header_name in ('payment-signature', 'x-payment')),
  header_value text not null,
  created_at timestamptz not null
);

-- Set in the transaction that signs: what the request costs, however it ends, unless the agent does not collect it.
alter table invocation add column billed_micro bigint check (billed_micro between 1 and price_micro);
