-- A call paid by a voucher is found again by its request: the same voucher for another request is refused (issue 15, decision 28).
-- Hash of the exact purchase.
alter table channel_charge add column fingerprint bytea not null;

insert into ledger_account (id, kind, created_at) values ('vouchers', 'vouchers', now()), ('claimed', 'claimed', now()) on conflict do nothing;
