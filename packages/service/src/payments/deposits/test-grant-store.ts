import type { Tx } from '../../store/sql.ts';

/** A gift of test USDC, and the bounds of 24 hours that it counts against. */
export interface TestGrant {
  readonly id: string;
  readonly accountId: string;
  /** The network of the client that asked. */
  readonly network: string;
  readonly faucetAddress: string;
  readonly since: Date;
  readonly now: Date;
  readonly perAccount: number;
  readonly perAddress: number;
  readonly perDay: number;
}

/**
 * Records a gift, one of the node at a time. Returns null, also for an id that is there already. At a bound it records nothing and returns
 * the time of the gift that makes room for this one when it is a day old.
 */
export async function noteTestGrant(tx: Tx, grant: TestGrant): Promise<Date | null> {
  await tx.query('lock-test-grants', `select pg_advisory_xact_lock(hashtextextended('test grants', 0))`, []);
  await tx.query('drop-test-grants', 'delete from test_grant where created_at <= $1', [grant.since]);
  const [row] = await tx.query<{ isNoted: boolean; fullSince: Date | null }>(
    'count-test-grants',
    `select exists (select from test_grant where id = $1) as "isNoted", greatest(
       (select created_at from test_grant where account_id = $2 order by created_at desc offset $4::int - 1 limit 1),
       (select created_at from test_grant where network = $3 order by created_at desc offset $5::int - 1 limit 1),
       (select created_at from test_grant order by created_at desc offset $6::int - 1 limit 1)) as "fullSince"`,
    [grant.id, grant.accountId, grant.network, grant.perAccount, grant.perAddress, grant.perDay],
  );
  if (row?.isNoted) return null;
  if (row?.fullSince) return row.fullSince;
  await tx.query(
    'note-test-grant',
    `with wallet as (insert into faucet_wallet (address) values ($5) on conflict do nothing)
     insert into test_grant (id, account_id, network, created_at) values ($1, $2, $3, $4)`,
    [grant.id, grant.accountId, grant.network, grant.now, grant.faucetAddress],
  );
  return null;
}

/** Takes back a gift of which no payment came. */
export const dropTestGrant = (tx: Tx, id: string): Promise<unknown> =>
  tx.query(
    'drop-test-grant',
    `delete from test_grant where id = $1
        and not exists (select from chain_payment
                         where subject_id = $1 and purpose in ('deposit', 'invocation') and state <> 'failed')`,
    [id],
  );
