import { type Hex, parseTransaction, recoverTransactionAddress, type TransactionSerialized } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { markMined, reopenNonce } from '../../../src/chain/transaction-store.ts';
import { resendTransactions } from '../../../src/payments/reconcile/resend-transactions.ts';
import type { Tx } from '../../../src/store/sql.ts';
import { askDatabase, contradictions, walletByBooks } from '../../support/books.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { until } from '../../support/until.ts';

const SEND = 'eth_sendRawTransaction';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine({ senders: 2 });
});
afterEach(async () => {
  engine.proxy.rule(SEND, null);
  expect(await contradictions(engine.databaseUrl)).toEqual([]);
  expect(await walletByBooks(engine.databaseUrl)).toBe(await engine.ctx.usdc.balanceOf(engine.ctx.wallet.address));
});
afterAll(() => engine.stop());

const read = <Row extends Record<string, unknown>>(text: string) => askDatabase<Row>(engine.databaseUrl, text);
const WAITING = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
const openKeys = () => read('select address from chain_signer where leased_by is not null');

/** When transactions are left to their senders no more. */
const later = () => ({ ...engine.ctx, clock: { now: () => new Date(Date.now() + 5000) } });
/** The leases of all keys that have one have run out. */
const leaveKeys = () =>
  read(`update chain_signer set leased_by = 'gone', leased_until = now() where leased_by is not null`);

async function sentBy(raw: Hex): Promise<{ signer: string; nonce: number }> {
  const signer = await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized });
  return { signer: signer.toLowerCase(), nonce: parseTransaction(raw).nonce ?? 0 };
}

describe('several keys, several processes', () => {
  it('settle 120 payments, each once; no nonce is used twice, no key carries two transactions, and more than one key works', async () => {
    const other = await engine.anotherProcess();
    const early: string[] = [];
    engine.proxy.rule(SEND, async ({ params, forward }) => {
      const { signer, nonce } = await sentBy(params[0] as Hex);
      if ((await engine.ctx.usdc.transactionCount(signer)) < nonce) early.push(`${signer} ${nonce}`);
      return forward();
    });
    const payments = await engine.claimMany(120);
    const outcomes = await Promise.all(
      payments.map((payment, index) => (index % 2 ? other : engine.ctx).settler.settle(payment)),
    );
    expect(new Set(outcomes.map(({ state }) => state))).toEqual(new Set(['settled']));
    expect(early).toEqual([]);
    const nonces = await read<{ signer: string; count: number; distinct: number; next: string }>(
      `select t.signer, count(*)::int as count, count(distinct nonce)::int as distinct, s.next_nonce::text as next
         from chain_transaction t join chain_signer s on s.address = t.signer group by t.signer, s.next_nonce`,
    );
    expect(nonces.length).toBeGreaterThan(1);
    for (const { count, distinct, next } of nonces) expect([distinct, Number(next)]).toEqual([count, count]);
    expect(await openKeys()).toEqual([]);
  });

  it('a lone payment goes out at once though another waits for its block', async () => {
    const [slow, quick] = await engine.claimMany(2);
    if (!slow || !quick) throw new Error('two payments were claimed');
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    let isFirst = true;
    engine.proxy.rule(SEND, async ({ forward }) => {
      if (!isFirst) return forward();
      isFirst = false;
      reached.resolve();
      await gate.promise;
      return forward();
    });
    const first = engine.ctx.settler.settle(slow);
    await reached.promise;
    expect(await engine.ctx.settler.settle(quick)).toMatchObject({ state: 'settled' });
    gate.resolve();
    expect(await first).toMatchObject({ state: 'settled' });
  });

  it('a payment that finds every key at work waits for the first that is free', async () => {
    const payments = await engine.claimMany(4);
    const last = payments.pop();
    if (!last) throw new Error('four payments were claimed');
    const other = await engine.anotherProcess();
    const gate = Promise.withResolvers<void>();
    let reached = Promise.withResolvers<void>();
    engine.proxy.rule(SEND, async ({ forward }) => {
      reached.resolve();
      await gate.promise;
      return forward();
    });
    const settled: Promise<unknown>[] = [];
    for (const payment of payments) {
      reached = Promise.withResolvers<void>();
      settled.push(engine.ctx.settler.settle(payment));
      await reached.promise;
    }
    expect(await openKeys()).toHaveLength(3);
    settled.push(other.settler.settle(last));
    expect(await engine.stateOf(last)).toBe('claimed');
    gate.resolve();
    expect(await Promise.all(settled)).toMatchObject(Array(4).fill({ state: 'settled' }));
    expect(await openKeys()).toEqual([]);
  });

  it('what a stopped process has left on a key is brought on by another, which frees the key', async () => {
    const [payment] = await engine.claimMany(1);
    if (!payment) throw new Error('a payment was claimed');
    const dying = await engine.anotherProcess();
    const sent = Promise.withResolvers<void>();
    engine.proxy.rule(SEND, ({ answer }) => {
      sent.resolve();
      return answer(`0x${'0'.repeat(64)}`);
    });
    const lost = dying.settler.settle(payment);
    await sent.promise;
    await dying.settler.stop(0);
    expect(await lost).toMatchObject({ state: 'unknown' });
    engine.proxy.rule(SEND, null);
    expect(await openKeys()).toHaveLength(1);
    await resendTransactions(later());
    await resendTransactions(later());
    expect(await openKeys()).toEqual([]);
    expect(await engine.ctx.usdc.areSpent([payment.authorization])).toEqual([true]);
    expect(await engine.ctx.settler.settle(payment)).toMatchObject({ state: 'settled' });
  });

  it('a key whose transaction is recorded while a process takes it over that dies is free afterwards', async () => {
    const [payment] = await engine.claimMany(1);
    if (!payment) throw new Error('a payment was claimed');
    await engine.ctx.settler.settle(payment);
    const [last] = await read<{ hash: string }>('select hash from chain_transaction order by created_at desc limit 1');
    const mined = await engine.ctx.usdc.findMined([last?.hash ?? '']);
    if (!mined) throw new Error('the payment is in a block');
    // As it was before its block was recorded, by a process that has died since.
    await engine.ctx.db.transaction((tx) => reopenNonce(tx, mined.hash));
    await leaveKeys();
    const [marked, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const recorded = engine.ctx.db.transaction(async (tx) => {
      await markMined(tx, mined);
      marked.resolve();
      await seen.promise;
    });
    await marked.promise;
    const findMined = () => Promise.reject(new Error('the process died'));
    const taken = resendTransactions({ ...later(), usdc: { ...engine.ctx.usdc, findMined } });
    const isWaiting = async () => (await read(WAITING)).length > 0;
    await Promise.race([taken, until(isWaiting)]);
    seen.resolve();
    await Promise.all([recorded, taken]);
    expect(await openKeys()).toEqual([]);
  });

  describe('a key with two open transactions', () => {
    /** Two mined transactions of one key, as they were before their blocks were recorded. */
    async function reopenTwo() {
      const hashes = async () =>
        (
          await read<{ hashes: string[] }>(
            `select array_agg(hash) as hashes from chain_transaction where state = 'mined' group by signer having count(*) > 1`,
          )
        )[0]?.hashes;
      let found = await hashes();
      for (; !found; found = await hashes()) {
        const [payment] = await engine.claimMany(1);
        if (payment) await engine.ctx.settler.settle(payment);
      }
      const mined = await Promise.all(found.slice(0, 2).map((hash) => engine.ctx.usdc.findMined([hash])));
      const [first, second] = mined;
      if (!first || !second) throw new Error('both are in blocks');
      return { first, second, reopen: (hash: string) => engine.ctx.db.transaction((tx) => reopenNonce(tx, hash)) };
    }
    /** Begins the second when the first is done but for its commit. */
    async function beside(first: (tx: Tx) => Promise<void>, second: (tx: Tx) => Promise<void>) {
      const [done, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const one = engine.ctx.db.transaction(async (tx) => {
        await first(tx);
        done.resolve();
        await seen.promise;
      });
      await done.promise;
      const other = engine.ctx.db.transaction(second);
      const isWaiting = async () => (await read(WAITING)).length > 0;
      await Promise.race([other, until(isWaiting)]);
      seen.resolve();
      await Promise.all([one, other]);
    }

    it('is free when both are recorded at once', async () => {
      const { first, second, reopen } = await reopenTwo();
      for (const { hash } of [first, second]) await reopen(hash);
      expect(await openKeys()).toHaveLength(1);
      await beside(
        (tx) => markMined(tx, first),
        (tx) => markMined(tx, second),
      );
      expect(await openKeys()).toEqual([]);
    });

    it('is kept when one is recorded while a reorg reopens the other', async () => {
      const { first, second, reopen } = await reopenTwo();
      await reopen(first.hash);
      await beside(
        (tx) => reopenNonce(tx, second.hash),
        (tx) => markMined(tx, first),
      );
      expect(await openKeys()).toHaveLength(1);
      await engine.ctx.db.transaction((tx) => markMined(tx, second));
      expect(await openKeys()).toEqual([]);
    });
  });

  it('a key that is leased without an open transaction is freed, and pays again', async () => {
    const [payment] = await engine.claimMany(1);
    if (!payment) throw new Error('a payment was claimed');
    await askDatabase(engine.databaseUrl, `update chain_signer set leased_by = 'gone', leased_until = now()`);
    await resendTransactions(engine.ctx);
    expect(await openKeys()).toEqual([]);
    expect(await engine.ctx.settler.settle(payment)).toMatchObject({ state: 'settled' });
  });
});
