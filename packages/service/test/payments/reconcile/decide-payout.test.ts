import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { silentLog } from '../../../src/lib/log/log.ts';
import { type Decision, decidePayout } from '../../../src/payments/payouts/decide-payout.ts';
import {
  closeExplained,
  type FoundPayout,
  listFoundPayouts,
} from '../../../src/payments/payouts/found-payout-store.ts';
import { reportRestore, reportText } from '../../../src/payments/reconcile/report-restore.ts';
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
}

async function makePayout({ state, requestId, isRestored = true, dueMicro = 0n }: Made): Promise<string> {
  const id = `fpo_${++made}`;
  await db.query(
    '',
    `insert into found_payout (id, chain_id, token, from_address, nonce, is_plain, to_address, value_micro, transaction_hash, block_number, block_hash,
       is_restored, state, request_id, purpose, due_micro, source, found_at, changed_at)
     values ($1, 84532, '0xusdc', '0xnode', $1, false, '0xpayer', 50000, $1, 1, '0xblock', $2, $3, $4, $5, $6, $7, now(), now())`,
    [id, isRestored, state, requestId ?? null, requestId ? 'refund' : null, dueMicro, dueMicro > 0n ? 'trs_a' : null],
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
const stateOf = async (id: string) => (await listFoundPayouts(db, null)).find((each) => each.id === id)?.state;

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
    expect(await closeExplained(db, '0xusdc', ['0xnow', '0xnode'], clock.now())).toBe(1);
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
