import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Carrier } from '../../../src/payments/settlement/settler.ts';
import { GuardError } from '../../../src/store/transaction.ts';
import { askDatabase, contradictions, walletByBooks } from '../../support/books.ts';
import { type Engine, type EngineContext, startEngine } from '../../support/engine.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterEach(async () => {
  expect(await contradictions(engine.databaseUrl)).toEqual([]);
  expect(await walletByBooks(engine.databaseUrl)).toBe(await engine.ctx.usdc.balanceOf(engine.ctx.wallet.address));
});
afterAll(() => engine.stop());

const read = <Row extends Record<string, unknown>>(text: string) => askDatabase<Row>(engine.databaseUrl, text);
const openTransactions = () =>
  read(`select query from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`);
const stored = async () => (await read<{ hash: string }>('select hash from chain_transaction')).map(({ hash }) => hash);
const openKeys = () => read('select address from chain_signer where leased_by is not null');

/** Payments that are claimed, one for each of as many new payers. */
async function claimTwo() {
  const [first, second] = await engine.claimMany(2);
  if (!first || !second) throw new Error('two payments were claimed');
  return { first, second };
}

/** Calls `work` while the first transaction is signed, as a signer that takes its time would let happen. */
async function whileSigning<T>({ wallet }: EngineContext, work: () => Promise<unknown>, settle: () => Promise<T>) {
  const { signHash } = wallet;
  let isFirst = true;
  Object.assign(wallet, {
    async signHash(hash: `0x${string}`) {
      const before = isFirst;
      isFirst = false;
      if (before) await work();
      return signHash(hash);
    },
  });
  try {
    return await settle();
  } finally {
    Object.assign(wallet, { signHash });
  }
}

const storeOf = (ctx: EngineContext, carrier: Carrier | null) =>
  ctx.db.flush(carrier?.stored(ctx.clock.now()) ?? []).catch((error) => error);

it('no transaction of the database is open while a key signs', async () => {
  const { ctx } = engine;
  const { first } = await claimTwo();
  const open: unknown[] = [];
  const look = async () => open.push(...(await openTransactions()));
  expect(await whileSigning(ctx, look, () => ctx.settler.settle(first))).toMatchObject({ state: 'settled' });
  expect(open).toEqual([]);
});

it('a nonce that another process uses while a key signs for it is not used twice: the key signs for the next', async () => {
  const { ctx } = engine;
  const { first, second } = await claimTwo();
  const other = await engine.anotherProcess();
  const meanwhile = async () => expect(await other.settler.settle(second)).toMatchObject({ state: 'settled' });
  expect(await whileSigning(ctx, meanwhile, () => ctx.settler.settle(first))).toMatchObject({ state: 'settled' });
  const [nonces] = await read<{ count: number; distinct: number; next: number }>(
    `select count(*)::int as count, count(distinct nonce)::int as distinct, (select next_nonce::int from chain_signer) as next
       from chain_transaction`,
  );
  expect(nonces).toMatchObject({ distinct: nonces?.count, next: nonces?.count });
});

it('a transaction that is signed before its payment is claimed is carried out once that is committed', async () => {
  const { ctx } = engine;
  const { first, second } = await claimTwo();
  const carrier = await ctx.settler.carry(first);
  expect(await ctx.settler.carry(second)).toBeNull();
  await storeOf(ctx, carrier);
  expect(await engine.stateOf(first)).toBe('broadcasting');
  expect(await ctx.settler.settle(first, carrier)).toMatchObject({
    ...{ state: 'settled', transactionHash: carrier?.signed.hash },
  });
  expect(await ctx.settler.settle(second)).toMatchObject({ state: 'settled' });
  expect(await openKeys()).toEqual([]);
});

it('a transaction that is signed and not stored leaves nothing behind, and its key to others', async () => {
  const { ctx } = engine;
  const { first, second } = await claimTwo();
  const before = await stored();
  const dropped = await ctx.settler.carry(first);
  expect(dropped).not.toBeNull();
  dropped?.drop();
  expect([await stored(), await openKeys(), await engine.stateOf(first)]).toEqual([before, [], 'claimed']);
  const settled = await Promise.all([first, second].map((payment) => ctx.settler.settle(payment)));
  expect(settled).toMatchObject([{ state: 'settled' }, { state: 'settled' }]);
});

it('of two processes that sign for the same nonce, one stores its transaction, and the other begins anew', async () => {
  const { ctx } = engine;
  const { first, second } = await claimTwo();
  const other = await engine.anotherProcess();
  const [ours, theirs] = [await ctx.settler.carry(first), await other.settler.carry(second)];
  expect(ours?.signed.nonce).toBe(theirs?.signed.nonce);
  await storeOf(ctx, ours);
  expect(await storeOf(other, theirs)).toBeInstanceOf(GuardError);
  theirs?.drop();
  expect(await engine.stateOf(second)).toBe('claimed');
  expect(await stored()).not.toContain(theirs?.signed.hash);
  const settled = await Promise.all([ctx.settler.settle(first, ours), other.settler.settle(second)]);
  expect(settled).toMatchObject([{ state: 'settled' }, { state: 'settled' }]);
});
