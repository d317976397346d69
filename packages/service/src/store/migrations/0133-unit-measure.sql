alter table quote add column unit_measure text;
comment on column quote.unit_measure is 'What is counted at unit_pointer: number, items, characters or bytes. Null: by the JSON type, as agents of before declare it.';
