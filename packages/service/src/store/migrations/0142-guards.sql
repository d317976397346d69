-- Statements that are sent together with their COMMIT cannot be looked at before it: one that must stop the transaction raises.
create function require_true(holds boolean) returns boolean language plpgsql as $$
begin
  if holds is not true then
    raise exception 'a guard of the transaction does not hold' using errcode = 'AN001';
  end if;
  return true;
end $$;
