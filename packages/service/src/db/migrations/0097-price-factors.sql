-- A quote keeps what its price followed: later changes by the agent's owner do not reach the calls that it is good for.
alter table quote add column multiplier_ten_thousandths integer;
alter table quote add column factors json;
