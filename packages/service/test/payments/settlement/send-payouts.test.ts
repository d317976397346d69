import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createLog, silentLog } from '../../../src/lib/telemetry/log.ts';
import type { NewChainPayment } from '../../../src/payments/chain-outbox/chain-payment.ts';
import { findBySubject, renewSignatures } from '../../../src/payments/chain-outbox/chain-payment-store.ts';
import { owePayer } from '../../../src/payments/payouts/refund-payer.ts';
import { reconcilePayments } from '../../../src/payments/reconcile/reconcile.ts';
import { sendAfterCommit, startPayouts } from '../../../src/payments/settlement/send-payouts.ts';
import { signPayout } from '../../../src/payments/settlement/sign-payout.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { askDatabase, contradictions, walletByBooks } from '../../support/books.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { type Engine, type EngineContext, startEngine } from '../../support/engine.ts';
import { startWatch } from '../../support/watch.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine({ senders: 1 });
});
afterEach(async () => {
  engine.proxy.rule('eth_call', null);
  await takeOver();
  expect(await contradictions(engine.databaseUrl)).toEqual([]);
  expect(await walletByBooks(engine.databaseUrl)).toBe(await engine.ctx.usdc.balanceOf(engine.ctx.wallet.address));
});
afterAll(() => engine.stop());

/** What the reconciler of any process does once a payout is five seconds old. */
async function takeOver(): Promise<void> {
  const later = { ...engine.ctx, clock: { now: () => new Date(Date.now() + 6000) } };
  await reconcilePayments(later);
  await engine.ctx.settler.idle();
}

function start(changes: Partial<EngineContext> = {}) {
  const payouts = startPayouts({ ...engine.ctx, ...changes });
  onTestFinished(() => payouts.stop());
  return payouts;
}

async function paidIn(): Promise<NewChainPayment> {
  const payment = await engine.claim(await engine.newPayer());
  await engine.ctx.settler.settle(payment);
  return payment;
}

/** Owes the payer its money; `also` is done in the same transaction. */
async function owe(
  { subjectId, ledgerAccountId, authorization }: NewChainPayment,
  { db = engine.ctx.db, also = () => undefined }: { db?: EngineContext['db']; also?: () => void } = {},
) {
  const refund = {
    ...{ requestId: subjectId, accountId: null as never, ledgerAccountId },
    ...{ address: authorization.from, amountMicro: authorization.valueMicro },
  };
  await db.transaction(async (tx) => {
    await owePayer(engine.ctx, tx, refund);
    also();
  });
  const payout = await findBySubject(engine.ctx.db, subjectId, 'refund');
  if (!payout) throw new Error('a refund is owed');
  return payout;
}

const untilSettled = (payout: NewChainPayment) =>
  expect.poll(() => engine.stateOf(payout), { interval: 5 }).toBe('settled');
const simulate = (work: EngineContext['simulator']['simulate']) => ({ simulator: { simulate: work } });
const countTransactions = async () =>
  (await askDatabase<{ n: number }>(engine.databaseUrl, 'select count(*)::int as n from chain_transaction'))[0]?.n ?? 0;

it('a payout of a rolled-back transaction is never sent, one of a committed transaction at once', async () => {
  const asked: string[] = [];
  start(
    simulate(async (payment) => {
      asked.push(payment.authorization.to);
      return engine.ctx.simulator.simulate(payment);
    }),
  );
  const [undone, done] = [await paidIn(), await paidIn()];
  const undo = () => {
    throw new Error('undo');
  };
  await expect(owe(undone, { also: undo })).rejects.toThrow('undo');
  await untilSettled(await owe(done));
  expect(asked).toEqual([done.authorization.from]);
  expect(await engine.ctx.usdc.balanceOf(done.authorization.from)).toBe(1_000_000n);
});

it('a payout is on its way within 20 ms of its commit', async () => {
  const waits: number[] = [];
  let asked = Promise.withResolvers<void>();
  start(
    simulate(async () => {
      asked.resolve();
      return 'the wallet: transfer amount exceeds balance';
    }),
  );
  for (let n = 0; n < 11; n++) {
    asked = Promise.withResolvers();
    const payment = await paidIn();
    let sinceCommit = startWatch();
    const owed = engine.ctx.db.onCommit('payout', () => {
      sinceCommit = startWatch();
    });
    await owe(payment);
    await asked.promise;
    waits.push(sinceCommit());
    owed();
  }
  expect(waits.sort((a, b) => a - b)[5]).toBeLessThan(20);
});

it('payouts that are recorded together are sent in one transaction, each once, however often that is said', async () => {
  start();
  const payments = await Promise.all([paidIn(), paidIn(), paidIn()]);
  const before = await countTransactions();
  // In one transaction, so that all are told of at the same moment.
  await engine.ctx.db.transaction(async (tx) => {
    for (const { subjectId, ledgerAccountId, authorization } of payments)
      await owePayer(engine.ctx, tx, {
        ...{ requestId: subjectId, accountId: null as never, ledgerAccountId },
        ...{ address: authorization.from, amountMicro: authorization.valueMicro },
      });
    for (const { subjectId } of payments) {
      const payout = await findBySubject(tx, subjectId, 'refund');
      sendAfterCommit(tx, payout?.id ?? '');
    }
  });
  for (const { subjectId } of payments) {
    const payout = await findBySubject(engine.ctx.db, subjectId, 'refund');
    if (payout) await untilSettled(payout);
  }
  expect(await countTransactions()).toBe(before + 1);
});

it('a payout that cannot be sent, as the chain is away, is sent when it is back', async () => {
  const failed = Promise.withResolvers<void>();
  start(
    simulate(async (payment) => {
      engine.proxy.rule('eth_call', () => null);
      return engine.ctx.simulator.simulate(payment).finally(() => failed.resolve());
    }),
  );
  const payout = await owe(await paidIn());
  await failed.promise;
  expect(await engine.stateOf(payout)).toBe('claimed');
  engine.proxy.rule('eth_call', null);
  await takeOver();
  expect(await engine.stateOf(payout)).toBe('settled');
});

it('payouts whose connections were cut while they were sent are sent, and later ones at once', async () => {
  const proxy = await startDatabaseProxy(engine.databaseUrl);
  const db = openDatabase(proxy.url, { max: 2, log: silentLog });
  onTestFinished(async () => {
    await db.close();
    await proxy.stop();
  });
  const lines: string[] = [];
  const log = createLog({ level: 'warn', destination: { write: (line) => void lines.push(line) } });
  start({ db, log });
  const payments = await Promise.all([paidIn(), paidIn()]);
  const [first, second] = payments as [NewChainPayment, NewChainPayment];
  const cut = db.onCommit('payout', () => {
    proxy.set('refusing');
    proxy.cut();
  });
  const payout = await owe(first, { db });
  await expect.poll(() => lines.join('')).toContain('payouts not sent');
  expect(await engine.stateOf(payout)).toBe('claimed');
  cut();
  proxy.set('open');
  await untilSettled(await owe(second, { db }));
  await takeOver();
  expect(await engine.stateOf(payout)).toBe('settled');
});

it('stopping waits for a payout that is being sent', async () => {
  const [entered, leave] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const payouts = start(
    simulate(async (payment) => {
      entered.resolve();
      await leave.promise;
      return engine.ctx.simulator.simulate(payment);
    }),
  );
  const payout = await owe(await paidIn());
  await entered.promise;
  const stopping = payouts.stop();
  leave.resolve();
  await stopping;
  await engine.ctx.settler.idle();
  expect(await engine.stateOf(payout)).toBe('settled');
});

it('a payout that is not sent in the grace time of a stop is left to another process', async () => {
  const entered = Promise.withResolvers<void>();
  const payouts = start(
    simulate(() => {
      entered.resolve();
      return new Promise(() => undefined);
    }),
  );
  const payout = await owe(await paidIn());
  await entered.promise;
  const tookMs = startWatch();
  await payouts.stop();
  expect(tookMs()).toBeLessThan(2000);
  const other = await engine.anotherProcess();
  await reconcilePayments(other, 0);
  await other.settler.idle();
  expect(await engine.stateOf(payout)).toBe('settled');
});

/** The schema of the job queue of before, with one job. */
const OLD_QUEUE = `
  create schema graphile_worker;
  create table graphile_worker._private_jobs (id bigint generated always as identity, payload json not null);
  create view graphile_worker.jobs as select id from graphile_worker._private_jobs;
  insert into graphile_worker._private_jobs (payload) values ('{"paymentId":"waiting"}');
  delete from schema_migration where version = 140;`;

it('payouts whose jobs wait in the queue of before are sent, and it is dropped once no process of before runs', async () => {
  const { db } = engine.ctx;
  const hasQueue = async () =>
    (await db.query<{ has: boolean }>('', `select to_regnamespace('graphile_worker') is not null as has`))[0]?.has;
  // Nobody has heard of it: this process sends none, and no job is run any more.
  const payout = await owe(await paidIn());
  await db.pool.query(OLD_QUEUE);
  await db.query('', `insert into process (id, label, schema_version) values ($1, 'old', 138)`, [randomUUID()]);
  await migrate(engine.databaseUrl, silentLog);
  expect(await hasQueue()).toBe(true);
  await db.query('', `delete from process where label = 'old'`);
  await db.query('', 'delete from schema_migration where version = 140');
  await migrate(engine.databaseUrl, silentLog);
  expect(await hasQueue()).toBe(false);
  expect(await engine.stateOf(payout)).toBe('claimed');
  await takeOver();
  expect(await engine.stateOf(payout)).toBe('settled');
});

it('a refund is signed after the transaction that owes it, which waits for no signature', async () => {
  const { wallet } = engine.ctx;
  const { signHash } = wallet;
  const paid = await paidIn();
  const owed: number[] = [];
  Object.assign(wallet, {
    async signHash(hash: `0x${string}`) {
      const text = `select count(*)::int as n from chain_payment where purpose = 'refund' and subject_id = '${paid.subjectId}'`;
      owed.push((await askDatabase<{ n: number }>(engine.databaseUrl, text))[0]?.n ?? 0);
      return signHash(hash);
    },
  });
  try {
    start();
    await untilSettled(await owe(paid));
  } finally {
    Object.assign(wallet, { signHash });
  }
  expect(owed.length).toBeGreaterThan(0);
  expect(new Set(owed)).toEqual(new Set([1]));
});

it('a refund that was owed by a process that died before it was signed is signed and sent by another, once', async () => {
  const paid = await paidIn();
  const payout = await owe(paid);
  expect(payout.signature).toBe('');
  await takeOver();
  await untilSettled(payout);
  expect(await engine.ctx.usdc.balanceOf(paid.authorization.from)).toBe(paid.authorization.valueMicro);
});

it('a refund that another process signed meanwhile keeps its signature, and is paid once', async () => {
  const [entered, leave] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const payouts = start(
    simulate(async () => {
      entered.resolve();
      await leave.promise;
      return null;
    }),
  );
  const paid = await paidIn();
  const payout = await owe(paid);
  await entered.promise;
  // Another process signs it, for a window that ends later.
  const signed = await signPayout(engine.ctx, payout, BigInt(Math.floor(Date.now() / 1000)) + 60n);
  const after = { ...payout, ...signed };
  expect(await renewSignatures(engine.ctx.db, [{ before: payout, after }])).toEqual(new Set([payout.id]));
  const before = await countTransactions();
  leave.resolve();
  await payouts.stop();
  await engine.ctx.settler.idle();
  expect(await findBySubject(engine.ctx.db, paid.subjectId, 'refund')).toMatchObject({ ...signed, state: 'claimed' });
  expect(await countTransactions()).toBe(before);
  await takeOver();
  await untilSettled(payout);
  expect(await engine.ctx.usdc.balanceOf(paid.authorization.from)).toBe(paid.authorization.valueMicro);
});

it('a refund that the reconciler signs claims what the wallet lacks for it from channels first', async () => {
  const payout = await owe(await paidIn());
  const steps: string[] = [];
  const { simulator, walletFunds } = engine.ctx;
  const later = {
    ...engine.ctx,
    clock: { now: () => new Date(Date.now() + 6000) },
    walletFunds: {
      ...walletFunds,
      ensure: (micro: bigint) => {
        steps.push('claim');
        return walletFunds.ensure(micro);
      },
    },
    simulator: {
      ...simulator,
      simulate: (...given: Parameters<typeof simulator.simulate>) => {
        steps.push('try');
        return simulator.simulate(...given);
      },
    },
  };
  await reconcilePayments(later);
  await engine.ctx.settler.idle();
  await untilSettled(payout);
  expect(steps).toEqual(['claim', 'try']);
});
