import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChainInfo } from '../../../src/chain/chain-info.ts';
import { silentLog } from '../../../src/lib/telemetry/log.ts';
import { keepAssets } from '../../../src/payments/ledger/keep-assets.ts';
import { openLedgerAccount } from '../../../src/payments/ledger/ledger-store.ts';
import { type Decision, decidePayout } from '../../../src/payments/payouts/decide-payout.ts';
import {
  closeExplained,
  type FoundPayout,
  listFoundPayouts,
} from '../../../src/payments/payouts/found-payout-store.ts';
import { reportRestore, reportText } from '../../../src/payments/reconcile/report-restore.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

const clock = fixedClock('2026-11-23T10:00:00Z');
let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url, { max: 2, log: silentLog });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

let made = 0;
interface Made {
  readonly state: FoundPayout['state'];
  readonly requestId?: string;
  readonly isRestored?: boolean;
  readonly dueMicro?: bigint;
  readonly chainId?: number;
}

async function makePayout({
  state,
  requestId,
  isRestored = true,
  dueMicro = 0n,
  chainId = 84532,
}: Made): Promise<string> {
  const id = `fpo_${++made}`;
  await db.query(
    '',
    `insert into found_payout (id, chain_id, token, from_address, nonce, is_plain, to_address, value_micro, transaction_hash, block_number, block_hash,
       is_restored, state, request_id, purpose, due_micro, source, found_at, changed_at)
     values ($1, $8, '0xusdc', '0xnode', $1, false, '0xpayer', 50000, $1, 1, '0xblock', $2, $3, $4, $5, $6, $7, now(), now())`,
    [
      ...[id, isRestored, state, requestId ?? null, requestId ? 'refund' : null, dueMicro],
      ...[dueMicro > 0n ? 'trs_a' : null, chainId],
    ],
  );
  return id;
}

async function makeRequest({ isEnded }: { isEnded: boolean }): Promise<string> {
  const id = `req_${++made}`;
  await db.transaction(async (tx) => {
    // Rows of the table that is read, without those that they belong to.
    await tx.query('', 'set local session_replication_role = replica');
    await tx.query(
      '',
      `insert into invocation (id, account_id, agent_id, task, input, metadata, priority, price_micro, estimated_time, deadline, payment_method, status, attempt,
         created_at, completed_at)
       values ($1, 'acc_a', 'agt_a', 'x', '{}', '{}', 'normal', 50000, '1s', now(), 'x402', $2, 1, now(), $3)`,
      [id, isEnded ? 'failed' : 'processing', isEnded ? new Date() : null],
    );
  });
  return id;
}

async function pay(requestId: string, state: string): Promise<void> {
  await db.query(
    '',
    `insert into chain_payment (id, chain_id, token, from_address, nonce, direction, purpose, subject_id, account_id, ledger_account_id, to_address,
       value_micro, valid_after, valid_before, signature, state, created_at)
     values ($1, 84532, '0xusdc', '0xpayer', $1, 'in', 'invocation', $2, null, 'loss', '0xnode', 50000, 0, 0, '', $3, now())`,
    [`pay_${++made}`, requestId, state],
  );
}

const decide = (id: string, decision: Decision) => decidePayout({ db, clock }, { id, decision, by: 'Ada' });
const stateOf = async (id: string) => (await listFoundPayouts(db, null, null)).find((each) => each.id === id)?.state;

describe('a payout that is left to its request', () => {
  it.each([{ kind: 'charge', account: 'fees' }, { kind: 'loss' }, { kind: 'own' }] as const)(
    'is not decided as $kind while the request may come to it',
    async (decision) => {
      const open = await makeRequest({ isEnded: false });
      const paying = await makeRequest({ isEnded: true });
      await pay(paying, 'broadcasting');
      const late = await makeRequest({ isEnded: true });
      await pay(late, 'failed');
      for (const requestId of [open, paying, late]) {
        const id = await makePayout({ state: 'expected', requestId });
        await expect(decide(id, decision)).rejects.toMatchObject({ code: 'CONFLICT' });
        expect(await stateOf(id)).toBe('expected');
      }
    },
  );

  it('is decided once the request has ended without it', async () => {
    const requestId = await makeRequest({ isEnded: true });
    const id = await makePayout({ state: 'expected', requestId });
    expect(await decide(id, { kind: 'loss' })).toMatchObject({ state: 'decided', source: 'loss', decidedBy: 'Ada' });
  });
});

describe('a payout that waits for an operator', () => {
  it('is explained, not decided, once the books have its payment', async () => {
    const id = await makePayout({ state: 'undecided' });
    await db.query(
      '',
      `insert into chain_payment (id, chain_id, token, from_address, nonce, direction, purpose, subject_id, account_id, ledger_account_id, to_address,
         value_micro, valid_after, valid_before, signature, state, created_at)
       values ($1, 84532, '0xusdc', '0xnode', $2, 'out', 'refund', 'req_late', null, 'outgoing', '0xpayer', 50000, 0, 0, '', 'settled', now())`,
      [`pay_${++made}`, id],
    );
    expect(await closeExplained(db, { chainId: 84532, token: '0xusdc' }, ['0xnow', '0xnode'], clock.now())).toBe(1);
    expect(await stateOf(id)).toBe('explained');
    await expect(decide(id, { kind: 'own' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('the report', () => {
  it('says that all withdrawals wait only for what a restore left open', async () => {
    const text = async () => reportText(await reportRestore({ db }));
    expect(await text()).toContain('Nothing is left to decide.');
    await makePayout({ state: 'due', dueMicro: 10_000n });
    expect(await text()).toContain('Withdrawals of accounts that lack some wait');
    await makePayout({ state: 'undecided', isRestored: false });
    expect(await text()).not.toContain('Withdrawals of all accounts');
    const id = await makePayout({ state: 'undecided' });
    expect(await text()).toContain('Withdrawals of all accounts wait');
    await decide(id, { kind: 'own' });
    expect(await text()).not.toContain('Withdrawals of all accounts');
  });
});

describe('a decision is refused', () => {
  it('other than a loss, for a payout that is charged already', async () => {
    const id = await makePayout({ state: 'due', dueMicro: 10_000n });
    await expect(decide(id, { kind: 'charge', account: 'fees' })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    await expect(decide(id, { kind: 'charge', account: 'acc_nobody' })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    });
    expect(await decide(id, { kind: 'loss' })).toMatchObject({ state: 'decided' });
  });

  it.each(['trs_unknown', 'wallet', 'loss'])('that charges %s, which no payout can be charged to', async (account) => {
    const id = await makePayout({ state: 'undecided' });
    await expect(decide(id, { kind: 'charge', account })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(await stateOf(id)).toBe('undecided');
  });
});

describe('a payout on a further network', () => {
  const chainId = 421_614;
  const asset = `eip155:${chainId}/erc20:0xusdc`;
  const chain = { ...({ chainId, caip2: `eip155:${chainId}`, token: '0xusdc', ledgerAsset: asset } as ChainInfo) };
  const ofAsset = async (id: string) => {
    const [row] = await db.query<{ micro: bigint }>(
      '',
      `select coalesce(sum(case when debit = $1 then -amount_micro else amount_micro end), 0)::bigint as micro
         from transfer where $1 in (debit, credit)`,
      [id],
    );
    return row?.micro;
  };

  it('is borne, or charged, in the asset that left', async () => {
    await keepAssets({ db, clock }, [chain]);
    const [lossBefore, outgoingBefore] = [await ofAsset('loss'), await ofAsset('outgoing')];
    const lost = await makePayout({ state: 'undecided', chainId });
    expect(await decide(lost, { kind: 'loss' })).toMatchObject({ state: 'decided', source: `loss@${asset}` });
    expect([await ofAsset(`loss@${asset}`), await ofAsset('loss')]).toEqual([-50_000n, lossBefore]);

    const charged = await makePayout({ state: 'undecided', chainId });
    const decided = await decide(charged, { kind: 'charge', account: 'fees' });
    // Nothing was earned in the asset: the node bears it until something is.
    expect(decided).toMatchObject({ state: 'due', source: `fees@${asset}`, dueMicro: 50_000n });
    expect(await Promise.all(['loss', 'fees', 'outgoing'].map((id) => ofAsset(`${id}@${asset}`)))).toEqual([
      ...[-100_000n, 0n, 0n],
    ]);
    expect([await ofAsset('loss'), await ofAsset('outgoing')]).toEqual([lossBefore, outgoingBefore]);
  });

  it('is charged to no account in another asset', async () => {
    const now = clock.now();
    for (const id of ['suspense:0xpayer', `suspense:0xpayer@${asset}`])
      await openLedgerAccount(db, { id, kind: 'suspense', address: '0xpayer', now });
    const id = await makePayout({ state: 'undecided', chainId });
    const charge = (account: string) => decide(id, { kind: 'charge', account });
    await expect(charge('suspense:0xpayer')).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(await charge(`suspense:0xpayer@${asset}`)).toMatchObject({ source: `suspense:0xpayer@${asset}` });
    const here = await makePayout({ state: 'undecided' });
    const other = { kind: 'charge', account: `suspense:0xpayer@${asset}` } as const;
    await expect(decide(here, other)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  });
});
