import { callChain } from '@agent-network/chain/chain-rpc-client';
import { type Hex, parseTransaction } from 'viem';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createLog } from '../../../src/lib/telemetry/log.ts';
import type { NewChainPayment } from '../../../src/payments/chain-outbox/chain-payment.ts';
import { reconcilePayments } from '../../../src/payments/reconcile/reconcile.ts';
import { createContractPayers } from '../../../src/payments/settlement/contract-payers.ts';
import { createKeyTurns, createSettler } from '../../../src/payments/settlement/settler.ts';
import { askDatabase, contradictions, walletByBooks } from '../../support/books.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { administer } from '../../support/held-payout.ts';
import { untilSo } from '../../support/network.ts';

const SEND = 'eth_sendRawTransaction';
/** Code that runs in a circle until its gas is used up. */
const GAS_BURNER = '0x5b600056';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterEach(async () => {
  engine.proxy.rule(SEND, null);
  expect(await contradictions(engine.databaseUrl)).toEqual([]);
  expect(await walletByBooks(engine.databaseUrl)).toBe(await engine.ctx.usdc.balanceOf(engine.ctx.wallet.address));
});
afterAll(() => engine.stop());

/** Settles them together: they gather while a lone one is held back. */
async function settleTogether(payments: readonly NewChainPayment[]) {
  const [first] = await engine.claimMany(1);
  if (!first) throw new Error('a payment was claimed');
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  engine.proxy.rule(SEND, async ({ forward }) => {
    reached.resolve();
    await gate.promise;
    return forward();
  });
  const { settler } = engine.ctx;
  const alone = settler.settle(first);
  await reached.promise;
  const together = payments.map((payment) => settler.settle(payment));
  gate.resolve();
  await alone;
  return (await Promise.all(together)).map(({ state }) => state);
}

const transactionsOf = (payments: readonly NewChainPayment[]) =>
  askDatabase<{ payments: number; gas: string }>(
    engine.databaseUrl,
    `select count(*)::int as payments from chain_payment where id = any($1) group by transaction_hash order by 1 desc`,
    [payments.map(({ id }) => id)],
  );

it('200 payments go in two transactions, as many in each as the gas of one allows', async () => {
  const payments = await engine.claimMany(200);
  expect(new Set(await settleTogether(payments))).toEqual(new Set(['settled']));
  expect((await transactionsOf(payments)).map((row) => row.payments)).toEqual([164, 36]);
});

it('a payment that stands twice in a batch, signed anew, is sent once', async () => {
  const [payment] = await engine.claimMany(1);
  if (!payment) throw new Error('a payment was claimed');
  const states = await settleTogether([
    payment,
    { ...payment, signature: payment.signature.toUpperCase().replace('0X', '0x') },
  ]);
  expect(states).toEqual(['settled', 'settled']);
  expect((await transactionsOf([payment])).map((row) => row.payments)).toEqual([1]);
});

it('a payment that is asked for again while it waits for a key is sent once', async () => {
  const [payment] = await engine.claimMany(1);
  if (!payment) throw new Error('a payment was claimed');
  expect(await settleTogether([payment, payment, payment])).toEqual(['settled', 'settled', 'settled']);
  const [sent] = await askDatabase<{ raw: Hex }>(
    engine.databaseUrl,
    'select t.raw from chain_payment p join chain_transaction t on t.hash = p.transaction_hash where p.id = $1',
    [payment.id],
  );
  // A lone payment goes to the token, several to Multicall3.
  expect(parseTransaction(sent?.raw ?? '0x').to).toBe(engine.ctx.chain.token);
});

it('settlers of two tokens of a chain take its key in order of arrival', async () => {
  const [first, theirs, mine] = await engine.claimMany(3);
  if (!first || !theirs || !mine) throw new Error('payments were claimed');
  const turns = createKeyTurns(1);
  const asked = Promise.withResolvers<void>();
  const tryAcquire = (retry: () => void) => {
    asked.resolve();
    return turns.keys.tryAcquire(retry);
  };
  const [one, other] = [
    createSettler(engine.ctx, turns),
    createSettler(engine.ctx, { ...turns, keys: { ...turns.keys, tryAcquire } }),
  ];
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  engine.proxy.rule(SEND, async ({ forward }) => {
    reached.resolve();
    await gate.promise;
    return forward();
  });
  const settling = [one.settle(first)];
  await reached.promise;
  settling.push(other.settle(theirs));
  await asked.promise;
  settling.push(one.settle(mine));
  gate.resolve();
  expect((await Promise.all(settling)).map(({ state }) => state)).toEqual(['settled', 'settled', 'settled']);
  const order = await askDatabase<{ id: string }>(
    engine.databaseUrl,
    'select p.id from chain_payment p join chain_transaction t on t.hash = p.transaction_hash where p.id = any($1) order by t.nonce',
    [[first, theirs, mine].map(({ id }) => id)],
  );
  expect(order.map(({ id }) => id)).toEqual([first.id, theirs.id, mine.id]);
});

it('one that is not good any more hurts none of 60', async () => {
  const payer = await engine.newPayer(0n);
  const payments = await engine.claimMany(60);
  payments.splice(20, 0, await engine.claim(payer));
  const states = await settleTogether(payments);
  expect(states.splice(20, 1)).toEqual(['failed']);
  expect(new Set(states)).toEqual(new Set(['settled']));
});

it('a wallet with code that burns all gas fails alone, anywhere in the batch', async () => {
  const burner = await engine.newPayer();
  await callChain(engine.chain.rpcUrl, 'anvil_setCode', burner.address, GAS_BURNER);
  const [before, after] = [await engine.claimMany(3), await engine.claimMany(30)];
  const ofCode = await engine.claim(burner, { signature: `0x${'ab'.repeat(100)}` });
  const likeKey = await engine.claim(burner);
  const states = await settleTogether([...before, likeKey, ofCode, ...after]);
  expect(states.splice(before.length, 2)).toEqual(['failed', 'failed']);
  expect(new Set(states)).toEqual(new Set(['settled']));
});

it('the log says why a payment is unknown that was not sent, as its payer could not be looked up, and that gas was not counted', async () => {
  const { ctx, proxy } = engine;
  const [payment] = await engine.claimMany(1);
  if (!payment) throw new Error('a payment was claimed');
  const lines: string[] = [];
  const log = createLog({ level: 'warn', destination: { write: (line) => void lines.push(line) } });
  const parts = { ...ctx, log, contractPayers: createContractPayers(ctx) };
  proxy.rule('eth_getCode', ({ refuse }) => refuse('out of order'));
  expect(await createSettler(parts).settle(payment)).toMatchObject({ state: 'unknown' });
  proxy.rule('eth_getCode', null);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ paymentId: payment.id, err: expect.anything() }]);
  const gas = { ...ctx.gas, maxGas: () => Promise.reject(new Error('out of order')) };
  expect(await createSettler({ ...parts, gas }).settle(payment)).toMatchObject({ state: 'settled' });
  expect(lines.slice(1).map((line) => JSON.parse(line))).toMatchObject([{ payments: 1, err: expect.anything() }]);
});

/** The reconciler leaves a payment to who sent it at first. */
const LATER = "update chain_payment set created_at = created_at - interval '1 minute' where id = $1";

it.each([
  ['paused', 'pause', 'unpause'],
  ["refusing the node's wallet", 'blacklist', 'unBlacklist'],
] as const)(
  'a payment whose block the token spent %s has not failed, though the token moves money again when it is recorded',
  async (_what, stop, goOn) => {
    const { ctx, chain, proxy } = engine;
    const token = { rpcUrl: chain.rpcUrl, ctx };
    const [payment] = await engine.claimMany(1);
    if (!payment) throw new Error('a payment was claimed');
    let sent = 0;
    proxy.rule(SEND, async ({ forward }) => {
      if (++sent > 1) return forward();
      await administer(token, stop, ctx.chain.wallet);
      const answer = await forward();
      await administer(token, goOn, ctx.chain.wallet);
      return answer;
    });
    expect(await ctx.settler.settle(payment)).toMatchObject({ state: expect.stringMatching(/settled|unknown/) });
    await askDatabase(engine.databaseUrl, LATER, [payment.id]);
    await untilSo('it settles', async () => {
      await reconcilePayments(ctx);
      return (await engine.stateOf(payment)) === 'settled';
    });
    expect(sent).toBeGreaterThan(1);
  },
);
