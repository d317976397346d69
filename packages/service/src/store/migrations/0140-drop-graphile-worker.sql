-- Nothing uses this schema any more: its jobs were payments that the reconciler sends as well. Code from before still does: an older process that
-- runs beside keeps it, and one that starts makes it anew. The next release drops what is left, once no older process may run.
do $$
begin
  if not exists (
    select from process where seen_at > clock_timestamp() - interval '10 seconds' and coalesce(schema_version, 0) < 140
  ) then
    drop schema if exists graphile_worker cascade;
  end if;
end $$;
