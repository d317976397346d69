-- A restored node relates what it finds on the chain to the bills of the last days, before it starts: however many payments there are.
create index chain_payment_bill_age on chain_payment (created_at) where purpose = 'bill';
