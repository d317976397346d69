-- What the node earned as fees goes into a treasury of its operator, and leaves from there.
alter table transfer drop constraint transfer_kind_check;
alter table transfer add constraint transfer_kind_check
  check (kind in ('deposit', 'charge', 'fee', 'refund', 'payout', 'withdrawal', 'return', 'reversal', 'claim', 'bill', 'bill_return', 'fee_payout'));
