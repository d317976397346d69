-- Parallel calls of one channel are told their sums in turn, whichever process they come to (issue 15, decision 28).

-- The request that was told the sum, and until when its answer is awaited: no other one is admitted before.
alter table channel add column turn_request text;
alter table channel add column turn_until timestamptz;
