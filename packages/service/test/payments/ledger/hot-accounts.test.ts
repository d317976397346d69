import { afterAll, beforeAll, expect, it } from 'vitest';
import { findLedgerContradictions } from '../../../src/calls/finish/money-audit-store.ts';
import { silentLog } from '../../../src/lib/telemetry/log.ts';
import { aggregateTotals } from '../../../src/payments/ledger/aggregate-totals.ts';
import { endHolds, holdMoney } from '../../../src/payments/ledger/hold-money.ts';
import {
  FEES,
  LOSS,
  OUTGOING,
  openLedgerAccount,
  postTransfers,
  WALLET,
} from '../../../src/payments/ledger/ledger-store.ts';
import { sumByKind, sumWallet } from '../../../src/payments/ledger/ledger-total-store.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

const PAIRS = 64;
const now = new Date();
const pairs = Array.from({ length: PAIRS }, (_, n) => ({ n, payer: `from_${n}`, agent: `to_${n}` }));

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase(database.url, { max: PAIRS + 4, log: silentLog });
  for (const { n, payer, agent } of pairs) {
    await openLedgerAccount(db, { id: payer, kind: 'payer', address: payer, now });
    await openLedgerAccount(db, { id: agent, kind: 'payer', address: agent, now });
    await deposit(payer, `start_${n}`);
  }
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const deposit = (credit: string, id: string) =>
  postTransfers(db, [{ id, debit: WALLET, credit, amountMicro: 1000n, kind: 'deposit', subjectId: id }], now);
const holdOf = (n: number, payer: string) => ({
  id: `hold_${n}`,
  scheme: 'treasury' as const,
  ledgerAccountId: payer,
  amountMicro: 100n,
  expiresAt: now,
});
const transfer = (kind: 'deposit' | 'refund' | 'payout' | 'reversal', debit: string, credit: string, n: number) => ({
  id: `${kind}:${n}`,
  debit,
  credit,
  amountMicro: 10n,
  kind,
  subjectId: `${n}`,
});

it('captures, deposits, refunds, payouts and losses of 64 pairs, all open at once, wait for no common row, nor for the fold', async () => {
  let open = 0;
  let letGo: () => void = () => undefined;
  const allOpen = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const work = pairs.map(({ n, payer, agent }) =>
    db.transaction(async (tx) => {
      await holdMoney(tx, [holdOf(n, payer)], now);
      await endHolds(tx, [{ id: `hold_${n}`, captureMicro: 100n, creditId: agent, feeMicro: 3n }], now);
      await postTransfers(tx, [transfer('deposit', WALLET, payer, n)], now);
      await postTransfers(tx, [transfer('refund', payer, OUTGOING, n), transfer('payout', OUTGOING, WALLET, n)], now);
      await postTransfers(tx, [transfer('reversal', LOSS, WALLET, n)], now);
      open += 1;
      if (open === PAIRS) letGo();
      // Nobody commits before all have moved their money: whoever waited for a row of another would wait for ever.
      await allOpen;
    }),
  );
  await aggregateTotals({ db });
  await Promise.all(work);
  const sums = await sumByKind(db);
  expect(sums.get(FEES)).toBe(3n * BigInt(PAIRS));
  expect(sums.get(LOSS)).toBe(-10n * BigInt(PAIRS));
  expect(sums.get(OUTGOING) ?? 0n).toBe(0n);
  expect(await sumWallet(db)).toBe(990n * BigInt(PAIRS));
  expect(await findLedgerContradictions(db)).toEqual([]);
});

it('are summed exactly while their sums are folded by two at once, and folding leaves one row for each', async () => {
  const before = await sumWallet(db);
  let isDone = false;
  const folding = [1, 2].map(async () => {
    while (!isDone) await aggregateTotals({ db });
  });
  const seen: bigint[] = [];
  const looking = (async () => {
    while (!isDone) seen.push(await sumWallet(db));
  })();
  await Promise.all(pairs.map(({ n, payer }) => deposit(payer, `again_${n}`)));
  isDone = true;
  await Promise.all([...folding, looking]);
  expect(await sumWallet(db)).toBe(before + 1000n * BigInt(PAIRS));
  expect(seen).toEqual([...seen].sort((a, b) => Number(a - b)));
  for (const sum of seen) expect((sum - before) % 1000n).toBe(0n);
  await aggregateTotals({ db });
  const rows = await db.query('test-totals', 'select kind from ledger_total');
  expect(rows.length).toBe(new Set(rows.map(({ kind }) => kind)).size);
  expect(await findLedgerContradictions(db)).toEqual([]);
});

it('do not exist under other names: money from or to an account that nobody opened is refused', async () => {
  for (const [debit, credit] of [
    ['nobody', 'from_0'],
    [WALLET, 'nobody'],
  ] as const) {
    const moving = postTransfers(db, [{ ...transfer('deposit', debit, credit, 999) }], now);
    await expect(moving).rejects.toThrow('ledger_total_kind_check');
  }
});
