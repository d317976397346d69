-- The first transaction that may still write to this database: later ones are open or not begun. Transactions of other databases of the
-- same server do not count: pg_snapshot_xmin() counts them, so that a long one next door held up every event here. A transaction is left
-- out only where it is seen at work in another database; one that cannot be placed counts.
create function first_open_transaction() returns bigint language sql stable as $$
  select coalesce(min(open.xid::text::bigint), pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
    from pg_snapshot_xip(pg_current_snapshot()) as open(xid)
   where open.xid::xid not in (
     select backend_xid from pg_stat_get_activity(null)
      where backend_xid is not null and datid <> (select oid from pg_database where datname = current_database())
     union all
     select transaction from pg_prepared_xacts where database <> current_database())
$$;
