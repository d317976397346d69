-- Of a quote of an agent with a price by units: how many, and where in the input they are counted. A call with more needs another quote.
alter table quote add column unit_count bigint;
alter table quote add column unit_pointer text;
