-- A file of its own: it locks rows, where adding the columns locks the tables.
update invocation set scheme = scheme_of_account(payer_ledger_id) where scheme is null and payer_ledger_id is not null;
update hold set scheme = scheme_of_account(ledger_account_id) where scheme is null and id not like 'wdr\_%';
