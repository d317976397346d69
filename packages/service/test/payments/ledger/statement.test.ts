import { parseUsdc } from '@agent-network/contracts/money';
import type { Statement } from '@agent-network/contracts/payments/statements';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KnownCaller } from '../../../src/accounts/caller.ts';
import { findLedgerContradictions } from '../../../src/calls/finish/money-audit-store.ts';
import { silentLog } from '../../../src/lib/telemetry/log.ts';
import { endHolds, holdMoney } from '../../../src/payments/ledger/hold-money.ts';
import {
  findLedgerAccount,
  openLedgerAccount,
  postTransfers,
  WALLET,
} from '../../../src/payments/ledger/ledger-store.ts';
import { readStatement } from '../../../src/payments/statements/read-statement.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

let database: TestDatabase;
let pools: [Database, Database];
let runs = 0;
const account = { kind: 'account', accountId: 'acc_1' } as KnownCaller;
beforeAll(async () => {
  database = await createTestDatabase();
  const open = () => openDatabase(database.url, { max: 8, log: silentLog });
  pools = [open(), open()];
  await pools[0].query(
    'test-account',
    `insert into account (id, address, plan, created_at) values ('acc_1', '0x' || repeat('0', 40), 'free', now())`,
  );
});
afterAll(async () => {
  for (const pool of pools) await pool.close();
  await database.drop();
});

const START = Date.UTC(2026, 10, 21);
/** Clocks of processes differ, so what comes later may say an earlier time. */
const move = fc.record({
  kind: fc.constantFrom('deposit' as const, 'earn' as const, 'spend' as const),
  micro: fc.bigInt({ min: 1n, max: 1_000_000n }),
  atMs: fc.integer({ min: 0, max: 40 }),
});
type Move = typeof move extends fc.Arbitrary<infer M> ? M : never;
const moment = fc.option(fc.integer({ min: -2, max: 44 }));

async function newTreasury(): Promise<{ treasuryId: string; other: string; run: number }> {
  runs += 1;
  const [treasuryId, other] = [`trs_${runs}`, `other_${runs}`];
  const now = new Date(START);
  // One account has one treasury of its own; as many agents as it likes have theirs.
  await openLedgerAccount(pools[0], { id: treasuryId, kind: 'payer', address: treasuryId, now });
  await pools[0].query('test-own', `update ledger_account set kind = 'agent', account_id = 'acc_1' where id = $1`, [
    treasuryId,
  ]);
  await openLedgerAccount(pools[0], { id: other, kind: 'payer', address: other, now });
  await postTransfers(
    pools[0],
    [{ id: `float_${runs}`, debit: WALLET, credit: other, amountMicro: 10n ** 12n, kind: 'deposit', subjectId: 'x' }],
    now,
  );
  return { treasuryId, other, run: runs };
}

async function take(db: Database, at: { treasuryId: string; other: string; run: number }, each: Move, index: number) {
  const now = new Date(START + each.atMs);
  const id = `${at.run}_${index}`;
  if (each.kind === 'deposit') {
    const deposit = { id, debit: WALLET, credit: at.treasuryId, amountMicro: each.micro, subjectId: id };
    await db.transaction((tx) => postTransfers(tx, [{ ...deposit, kind: 'deposit' }], now));
    return;
  }
  const [from, to] = each.kind === 'earn' ? [at.other, at.treasuryId] : [at.treasuryId, at.other];
  const hold = { id, scheme: 'treasury' as const, ledgerAccountId: from, amountMicro: each.micro, expiresAt: now };
  const [held] = await db.transaction((tx) => holdMoney(tx, [hold], now));
  const end = { id, captureMicro: each.micro, creditId: to, feeMicro: each.micro / 7n };
  if (held?.isHeld) await db.transaction((tx) => endHolds(tx, [end], now));
}

type Page = { from?: string; to?: string; order?: 'asc' | 'desc' };
const read = (treasuryId: string, query: Page & { cursor?: string; limit?: number }) =>
  readStatement({ db: pools[0], chain: { name: 'base' } } as never, account, treasuryId, query as never);

async function readAll(treasuryId: string, period: Page, limit: number): Promise<Statement[]> {
  const pages = [await read(treasuryId, { ...period, limit })];
  for (let page = pages[0]; page?.nextCursor; page = pages.at(-1))
    pages.push(
      await read(treasuryId, { cursor: page.nextCursor, limit, ...(period.order ? { order: period.order } : {}) }),
    );
  return pages;
}

const signed = ({ direction, amount }: Statement['entries'][number]) =>
  direction === 'credit' ? parseUsdc(amount) : -parseUsdc(amount);
const at = (ms: number) => new Date(START + ms).toISOString();

describe('a statement', () => {
  it('of any period adds up, entry by entry, on pages of any size, whatever two processes booked at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(move, { maxLength: 30 }),
        moment,
        moment,
        fc.integer({ min: 2, max: 40 }),
        async (moves, one, two, limit) => {
          const treasury = await newTreasury();
          await Promise.all(moves.map((each, index) => take(pools[index % 2] as Database, treasury, each, index)));
          const period: Page = {};
          if (one !== null) period.from = at(one);
          if (two !== null && (one === null || two > one)) period.to = at(two);
          const pages = await readAll(treasury.treasuryId, period, limit);
          const entries = pages.flatMap((page) => page.entries);
          const [first] = pages as [Statement];
          let balance = parseUsdc(first.openingBalance);
          for (const entry of entries) {
            balance += signed(entry);
            expect(parseUsdc(entry.balance)).toBe(balance);
            expect(period.from === undefined || entry.createdAt >= period.from).toBe(true);
            expect(period.to === undefined || entry.createdAt < period.to).toBe(true);
          }
          for (const page of pages) {
            expect(parseUsdc(page.closingBalance)).toBe(balance);
            expect(page.openingBalance).toBe(first.openingBalance);
          }
          const back = await readAll(treasury.treasuryId, { ...period, order: 'desc' }, limit);
          expect(back.flatMap((page) => page.entries)).toEqual(entries.toReversed());
          for (const { openingBalance, closingBalance } of back)
            expect([openingBalance, closingBalance]).toEqual([first.openingBalance, first.closingBalance]);
          const times = entries.map(({ createdAt }) => createdAt);
          expect(times).toEqual([...times].sort());
          expect(new Set(entries.map(({ entryId }) => entryId)).size).toBe(entries.length);
          if (Object.keys(period).length > 0) return;
          expect(balance).toBe((await findLedgerAccount(pools[0], treasury.treasuryId))?.postedMicro);
        },
      ),
      { numRuns: 25 },
    );
    expect(await findLedgerContradictions(pools[0])).toEqual([]);
  });

  it('of adjoining periods has every entry once, and one closes with what the next opens with', async () => {
    const treasury = await newTreasury();
    for (let index = 0; index < 40; index++)
      await take(pools[0], treasury, { kind: index % 3 ? 'deposit' : 'spend', micro: 500n, atMs: index }, index);
    const whole = await read(treasury.treasuryId, {});
    const bounds = [-1, 0, 7, 8, 23, 39, 41];
    const parts: Statement[] = [];
    for (const [index, from] of bounds.slice(0, -1).entries())
      parts.push(await read(treasury.treasuryId, { from: at(from), to: at(bounds[index + 1] as number) }));
    expect(parts.flatMap(({ entries }) => entries)).toEqual(whole.entries);
    for (const [index, part] of parts.entries())
      expect(part.openingBalance).toBe(index === 0 ? '0.00' : parts[index - 1]?.closingBalance);
  });

  it('stays as it was on all its pages when more is booked while it is read', async () => {
    const treasury = await newTreasury();
    const deposit = (index: number) =>
      take(pools[0], treasury, { kind: 'deposit', micro: 1_000_000n, atMs: index }, index);
    for (let index = 0; index < 5; index++) await deposit(index);
    const first = await read(treasury.treasuryId, { limit: 3 });
    for (let index = 5; index < 9; index++) await deposit(index);
    const second = await read(treasury.treasuryId, { cursor: first.nextCursor as string, limit: 3 });
    expect(second).toMatchObject({ closingBalance: '5.00', hasMore: false, nextCursor: null });
    expect(second.entries.map(({ balance }) => balance)).toEqual(['4.00', '5.00']);
    const back = await read(treasury.treasuryId, { limit: 7, order: 'desc' });
    await deposit(9);
    const older = await read(treasury.treasuryId, { cursor: back.nextCursor as string, order: 'desc' });
    expect(back.entries[0]?.balance).toBe('9.00');
    expect(older).toMatchObject({ closingBalance: '9.00', entries: [{ balance: '2.00' }, { balance: '1.00' }] });
    expect((await read(treasury.treasuryId, {})).closingBalance).toBe('10.00');
  });

  it('is refused for a cursor of another period, one that is none, and a period that ends before it begins', async () => {
    const treasury = await newTreasury();
    for (let index = 0; index < 3; index++)
      await take(pools[0], treasury, { kind: 'deposit', micro: 1n, atMs: index }, index);
    const { nextCursor: cursor } = await read(treasury.treasuryId, { from: at(0), limit: 1 });
    expect((await read(treasury.treasuryId, { from: at(0), cursor: cursor as string })).entries).toHaveLength(2);
    for (const query of [
      { cursor: cursor as string, from: at(1) },
      { cursor: cursor as string, to: at(5) },
      { cursor: 'x' },
      // Before 4713 BC, which PostgreSQL does not have.
      { cursor: Buffer.from('-999999999999999..1.1.1.1').toString('base64url') },
      { cursor: cursor as string, order: 'desc' as const },
      { from: at(2), to: at(2) },
    ])
      await expect(read(treasury.treasuryId, query)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  });
});
