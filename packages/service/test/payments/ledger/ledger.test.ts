import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAccountContradictions, findLedgerContradictions } from '../../../src/calls/finish/money-audit-store.ts';
import { silentLog } from '../../../src/lib/telemetry/log.ts';
import { endHolds, holdMoney } from '../../../src/payments/ledger/hold-money.ts';
import {
  findLedgerAccount,
  OUTGOING,
  openLedgerAccount,
  postTransfers,
  WALLET,
} from '../../../src/payments/ledger/ledger-store.ts';
import { sumWallet } from '../../../src/payments/ledger/ledger-total-store.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';

const ACCOUNTS = ['a', 'b', 'c'] as const;
type Name = (typeof ACCOUNTS)[number];

type Step =
  | { kind: 'deposit'; to: Name; micro: bigint; id: number }
  | { kind: 'hold'; from: Name; micro: bigint; id: number }
  | { kind: 'end'; id: number; share: number; to: Name }
  | { kind: 'refund'; from: Name; micro: bigint; id: number };

const name = fc.constantFrom(...ACCOUNTS);
const micro = fc.bigInt({ min: 1n, max: 1000n });
/** Few ids, so that the same cause comes again. */
const id = fc.integer({ min: 0, max: 12 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('deposit' as const), to: name, micro, id }),
  fc.record({ kind: fc.constant('hold' as const), from: name, micro, id }),
  fc.record({ kind: fc.constant('end' as const), id, share: fc.integer({ min: 0, max: 100 }), to: name }),
  fc.record({ kind: fc.constant('refund' as const), from: name, micro, id }),
);

let database: TestDatabase;
let pools: [Database, Database];
let runs = 0;
beforeAll(async () => {
  database = await createTestDatabase();
  const open = () => openDatabase(database.url, { max: 6, log: silentLog });
  pools = [open(), open()];
});
afterAll(async () => {
  for (const pool of pools) await pool.close();
  await database.drop();
});

/** What the books say against themselves; the holds of these tests are for no requests. */
const contradictions = async () => {
  const range = { after: '', before: null, limit: 1_000_000 };
  const [accounts, ledger] = await Promise.all([
    findAccountContradictions(pools[0], range),
    findLedgerContradictions(pools[0]),
  ]);
  return [...accounts, ...ledger];
};

/** Ids of one run of the property: every run has accounts and causes of its own in the one database. */
const scope = (run: number) => ({
  account: (account: Name) => `run${run}_${account}`,
  cause: (kind: string, number: number) => `${kind}:run${run}_${number}`,
});
type Scope = ReturnType<typeof scope>;

async function openRun(): Promise<Scope> {
  runs += 1;
  const names = scope(runs);
  for (const account of ACCOUNTS) {
    const ledgerAccountId = names.account(account);
    await openLedgerAccount(pools[0], {
      id: ledgerAccountId,
      kind: 'payer',
      address: ledgerAccountId,
      now: new Date(),
    });
  }
  return names;
}

/** Does a step and says whether it took effect. What the database refuses changes nothing. */
async function take(db: Database, names: Scope, each: Step): Promise<boolean> {
  const now = new Date();
  try {
    return await db.transaction(async (tx) => {
      if (each.kind === 'hold') {
        const request = {
          id: names.cause('hold', each.id),
          scheme: 'treasury' as const,
          ledgerAccountId: names.account(each.from),
          amountMicro: each.micro,
          expiresAt: now,
        };
        return (await holdMoney(tx, [request], now))[0]?.isHeld ?? false;
      }
      if (each.kind === 'end') {
        const hold = names.cause('hold', each.id);
        const [row] = await tx.query<{ amount: bigint; isOpen: boolean }>(
          'test-find-hold',
          'select amount_micro as amount, ended_at is null as "isOpen" from hold where id = $1',
          [hold],
        );
        if (!row) return false;
        await endHolds(
          tx,
          [
            {
              id: hold,
              captureMicro: (row.amount * BigInt(each.share)) / 100n,
              creditId: names.account(each.to),
              feeMicro: 0n,
            },
          ],
          now,
        );
        return row.isOpen;
      }
      const isDeposit = each.kind === 'deposit';
      const transfer = {
        id: names.cause(each.kind, each.id),
        debit: isDeposit ? WALLET : names.account(each.from),
        credit: isDeposit ? names.account(each.to) : OUTGOING,
        amountMicro: each.micro,
        kind: each.kind,
        subjectId: names.cause(each.kind, each.id),
      };
      await postTransfers(tx, [transfer], now);
      return true;
    });
  } catch (error) {
    const { code } = error as { code?: string };
    // 23505: the cause has moved money before. 23514: the account would fall below what it holds.
    if (code === '23505' || (code === '23514' && each.kind !== 'hold')) return false;
    throw error;
  }
}

/** The same steps on plain numbers; each answers whether it took effect. */
function model() {
  const posted: Record<Name, bigint> = { a: 0n, b: 0n, c: 0n };
  const held: Record<Name, bigint> = { a: 0n, b: 0n, c: 0n };
  const holds = new Map<number, { from: Name; micro: bigint; isOpen: boolean }>();
  const done = new Set<string>();
  const isFree = (from: Name, micro: bigint) => posted[from] - held[from] >= micro;

  function hold({ id, from, micro }: Extract<Step, { kind: 'hold' }>): boolean {
    if (holds.has(id) || !isFree(from, micro)) return false;
    holds.set(id, { from, micro, isOpen: true });
    held[from] += micro;
    return true;
  }
  function end({ id, share, to }: Extract<Step, { kind: 'end' }>): boolean {
    const open = holds.get(id);
    const captured = open ? (open.micro * BigInt(share)) / 100n : 0n;
    // A transfer to oneself is refused by the books; nothing changes.
    if (!open?.isOpen || (open.from === to && captured > 0n)) return false;
    open.isOpen = false;
    held[open.from] -= open.micro;
    posted[open.from] -= captured;
    posted[to] += captured;
    return true;
  }
  function once(cause: string, apply: () => void, isAllowed: boolean): boolean {
    if (done.has(cause) || !isAllowed) return false;
    apply();
    done.add(cause);
    return true;
  }
  const apply = (each: Step): boolean => {
    if (each.kind === 'hold') return hold(each);
    if (each.kind === 'end') return end(each);
    const cause = `${each.kind}:${each.id}`;
    if (each.kind === 'deposit') return once(cause, () => (posted[each.to] += each.micro), true);
    return once(cause, () => (posted[each.from] -= each.micro), isFree(each.from, each.micro));
  };
  return { posted, held, apply };
}

const steps = fc.array(step, { minLength: 1, maxLength: 40 });

describe('the ledger', () => {
  it('does one after the other exactly what the same steps do on plain numbers', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const names = await openRun();
        const expected = model();
        for (const each of sequence) expect(await take(pools[0], names, each)).toBe(expected.apply(each));
        for (const account of ACCOUNTS) {
          const { postedMicro, heldMicro } = (await findLedgerAccount(pools[0], names.account(account))) ?? {};
          expect({ postedMicro, heldMicro }).toEqual({
            postedMicro: expected.posted[account],
            heldMicro: expected.held[account],
          });
        }
      }),
      { numRuns: 30 },
    );
    expect(await contradictions()).toEqual([]);
  });

  it('stays whole when steps from two processes come all at once, and every cause moves money once', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const names = await openRun();
        const effects = await Promise.all(
          [...sequence, ...sequence].map((each, index) => take(pools[index % 2] as Database, names, each)),
        );
        const causes = [...sequence, ...sequence].flatMap((each, index) =>
          effects[index] && each.kind !== 'end' ? [`${each.kind}:${each.id}`] : [],
        );
        expect(new Set(causes).size).toBe(causes.length);
        expect(await contradictions()).toEqual([]);
      }),
      { numRuns: 25 },
    );
    const [row] = await pools[0].query<{ owed: bigint }>(
      'test-owed',
      `select (select sum(posted_micro) from ledger_account)::bigint
            + (select coalesce(sum(amount_micro), 0) from transfer where credit = 'outgoing')::bigint as owed`,
    );
    expect(await sumWallet(pools[0])).toBe(row?.owed);
  });

  it('lets batches of two processes over the same accounts, in opposite orders, all through', async () => {
    const names = await openRun();
    const now = new Date();
    for (const account of ACCOUNTS)
      await take(pools[0], names, { kind: 'deposit', to: account, micro: 1_000_000n, id: ACCOUNTS.indexOf(account) });
    const batch = (turn: number) =>
      (turn % 2 === 0 ? ACCOUNTS : ACCOUNTS.toReversed()).map((account) => ({
        id: names.cause('batch', turn * 10 + ACCOUNTS.indexOf(account)),
        scheme: 'treasury' as const,
        ledgerAccountId: names.account(account),
        amountMicro: 100n,
        captureMicro: 40n,
        feeMicro: 0n,
        expiresAt: now,
        creditId: names.account(ACCOUNTS[(ACCOUNTS.indexOf(account) + 1) % 3] as Name),
      }));
    const hold = async (db: Database, turn: number) => {
      const answers = await db.transaction((tx) => holdMoney(tx, batch(turn), now));
      expect(answers.every(({ isHeld }) => isHeld)).toBe(true);
      await db.transaction((tx) => endHolds(tx, batch(turn).toReversed(), now));
    };
    await Promise.all(Array.from({ length: 60 }, (_, turn) => hold(pools[turn % 2] as Database, turn)));
    for (const account of ACCOUNTS)
      expect(await findLedgerAccount(pools[0], names.account(account))).toMatchObject({
        postedMicro: 1_000_000n,
        heldMicro: 0n,
      });
    expect(await contradictions()).toEqual([]);
  });

  it('holds what another process has just brought: no hold is refused for what the account held before', async () => {
    for (let turn = 0; turn < 60; turn++) {
      const names = await openRun();
      const [isCredited, isHeld] = await Promise.all([
        take(pools[0], names, { kind: 'deposit', to: 'a', micro: 1000n, id: 0 }),
        take(pools[1], names, { kind: 'hold', from: 'a', micro: 2n, id: 1 }),
      ]);
      expect(isCredited).toBe(true);
      // Before the deposit there is nothing to hold; an error is thrown on.
      expect([true, false]).toContain(isHeld);
    }
    expect(await contradictions()).toEqual([]);
  });

  it('holds as many of one batch as the account can cover, in their order', async () => {
    const names = await openRun();
    await take(pools[0], names, { kind: 'deposit', to: 'a', micro: 100n, id: 0 });
    const requests = [60n, 50n, 30n].map((amountMicro, index) => ({
      id: names.cause('turn', index),
      scheme: 'treasury' as const,
      ledgerAccountId: names.account('a'),
      amountMicro,
      expiresAt: new Date(),
    }));
    const answers = await pools[0].transaction((tx) => holdMoney(tx, requests, new Date()));
    expect(answers.map(({ isHeld }) => isHeld)).toEqual([true, false, false]);
    const again = [{ ...(requests[2] as (typeof requests)[number]), id: names.cause('turn', 9) }];
    expect(await pools[0].transaction((tx) => holdMoney(tx, again, new Date()))).toMatchObject([{ isHeld: true }]);
    expect(await contradictions()).toEqual([]);
  });
});
