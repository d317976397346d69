import { randomUUID } from 'node:crypto';
import { recoverInvocations } from '../../../src/calls/run/recover-invocations.ts';
import { createApp } from '../../../src/compose/app.ts';
import { type ContextParts, createContext, type NodeContext } from '../../../src/compose/context.ts';
import { prepareChain } from '../../../src/payments/reconcile/prepare-chain.ts';
import { startPayouts } from '../../../src/payments/settlement/send-payouts.ts';
import type { Database } from '../../../src/store/database.ts';
import type { Repeating } from '../../../src/store/queue/schedule.ts';
import type { Sql, Tx } from '../../../src/store/sql.ts';

/**
 * A process of the node within this one, started like main.ts, but without recurring work. It can die at any step: right before or after
 * any statement, commit, chain query or call of an agent. From then on it is silent, and uncommitted work is rolled back: for all others
 * that is a power cut.
 */
export interface MortalNode {
  readonly ctx: NodeContext;
  readonly fetch: ReturnType<typeof createApp>['fetch'];
  /** Aborted when it dies. */
  readonly signal: AbortSignal;
  /** It dies as many steps from now, if it comes that far. */
  dieAfter(steps: number): void;
  die(): void;
  /** Resolves when the memory of a dead one is cleared away. */
  readonly buried: Promise<unknown>;
}

interface Life {
  readonly signal: AbortSignal;
  /** Throws when it is dead, or dies of this step. */
  step(): void;
  /** Processes share connections, and hear only of their own commits. */
  topic(name: string): string;
  dieAfter(steps: number): void;
  end(): void;
}

class Dead extends Error {
  override name = 'Dead';
}

/** `db`: connections that outlive it, as new ones for each process are what a start takes longest for. */
export async function startMortalNode(parts: ContextParts, db: Database): Promise<MortalNode> {
  const life = createLife();
  const ctx = await createContext(parts);
  await ctx.db.close();
  makeMortal(ctx, db, life);
  const payouts = startPayouts(ctx);
  const buried = new Promise((resolve) =>
    life.signal.addEventListener('abort', () => resolve(bury(ctx, payouts)), { once: true }),
  );
  try {
    await prepareChain(ctx);
    await recoverInvocations(ctx);
  } catch (error) {
    life.end();
    await buried;
    throw error;
  }
  const { fetch } = createApp(ctx);
  return { ctx, fetch, signal: life.signal, dieAfter: life.dieAfter, die: life.end, buried };
}

function createLife(): Life {
  const death = new AbortController();
  let stepsLeft = Number.POSITIVE_INFINITY;
  const name = randomUUID();
  return {
    signal: death.signal,
    topic: (topic) => `${topic} of ${name}`,
    step() {
      stepsLeft -= 1;
      if (stepsLeft < 0) death.abort();
      if (death.signal.aborted) throw new Dead();
    },
    dieAfter(steps) {
      stepsLeft = steps;
    },
    end: () => death.abort(),
  };
}

async function stepping<T>(life: Life, work: () => Promise<T>): Promise<T> {
  life.step();
  const done = await work().catch((error) => {
    life.step();
    throw error;
  });
  life.step();
  return done;
}

/** All parts of the node share these objects, so they are changed in place. */
function makeMortal(ctx: NodeContext, { query, transaction, flush, onCommit }: Database, life: Life): void {
  const queryMortal: Sql['query'] = (name, text, params) => stepping(life, () => query(name, text, params));
  const transactionMortal: typeof transaction = (fn, options) =>
    stepping(life, () => transaction((tx) => fn(mortalTx(tx, life)), options));
  const flushMortal: typeof flush = (statements, options) => stepping(life, () => flush(statements, options));
  const onCommitMortal: typeof onCommit = (topic, handler) => onCommit(life.topic(topic), handler);
  const mortal = { query: queryMortal, transaction: transactionMortal, flush: flushMortal, onCommit: onCommitMortal };
  Object.assign(ctx.db, mortal);
  for (const edge of [ctx.usdc, ctx.incomingTransfers, ctx.guardedFetch]) makeEdgeMortal(edge, life);
}

/** A statement that comes too late fails, so that its transaction is rolled back. */
const mortalTx = (tx: Tx, life: Life): Tx => ({
  ...tx,
  afterCommit: (topic, message) => tx.afterCommit(life.topic(topic), message),
  async query(name, text, params) {
    life.step();
    return tx.query(name, text, params);
  },
});

function makeEdgeMortal(edge: object, life: Life): void {
  for (const [name, method] of Object.entries(edge)) {
    if (name === 'checkUrl' || name === 'close') continue;
    const mortal = (...args: unknown[]) => stepping(life, () => method.apply(edge, args));
    Object.assign(edge, { [name]: mortal });
  }
}

/** Ends what a process that is gone would not have any more: connections, timers, loops. */
async function bury(ctx: NodeContext, payouts: Repeating): Promise<void> {
  const ends = [
    payouts.stop(),
    ctx.heartbeat.stop(),
    ctx.runner.drain(0),
    ctx.settler.stop(0),
    ctx.guardedFetch.close(),
  ];
  await Promise.allSettled(ends);
}
