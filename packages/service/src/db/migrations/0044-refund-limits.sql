-- How many refunds a wallet and an account were sent on chain lately. Those that were credited here were never signed.
create index chain_payment_refund_to on chain_payment (to_address, created_at)
  where direction = 'out' and purpose in ('refund', 'return', 'second_return') and signature <> '0x';
create index chain_payment_refund_of on chain_payment (account_id, created_at)
  where direction = 'out' and purpose in ('refund', 'return', 'second_return') and signature <> '0x';
