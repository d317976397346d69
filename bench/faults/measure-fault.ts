import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalChain } from '@agent-network/chain/local-chain';
import type { Bought } from './buyer.ts';
import type { Contender } from './contender.ts';
import type { Fault } from './fault.ts';
import type { Row } from './print-table.ts';
import { inLanes, newPurchases, PRICE_MICRO, type TestPurchase } from './purchase.ts';
import { chainReader, readPayments } from './read-payments.ts';
import { type Tally, tallyOf } from './tally.ts';
import { doesIt, type Worker } from './worker.ts';

/** Nothing must have changed for so long: longer than any work takes. */
const STILL_MS = 7000;
/** Money still owed this long after the last answer counts as lost. */
const OWED_MS = 30_000;
const ASK_AGAIN_MS = 250;
const PAYMENTS_PER_WALLET = 10n;
const CLOSING_LANES = 10;
const CLOSINGS = 3;

export interface Stage {
  readonly chain: LocalChain;
  readonly worker: Worker;
}

/** Has `count` purchases made of a contender under a fault, and counts what came of them on chain and at the worker. */
export async function measureFault(stage: Stage, fault: Fault, contender: Contender, count: number): Promise<Row> {
  const { chain, worker } = stage;
  const startMs = performance.now();
  const purchases = newPurchases(`${fault.name} ${contender.name}`.replaceAll(/[^a-z0-9]+/gi, '-'), count);
  await chain.fund(
    purchases.map(({ payer }) => ({ address: payer, ethWei: 0n, usdcMicro: PAYMENTS_PER_WALLET * PRICE_MICRO })),
  );
  const fromBlock = (await chainReader(chain).getBlockNumber()) + 1n;
  const bought = new Map<string, Bought>();
  worker.behave(doesIt);
  await fault.run({ contender, worker, purchases, note: ({ id }, what) => void bought.set(id, what) });
  await inLanes([...bought.values()], CLOSING_LANES, async ({ close }) => close && closeSoon(close));
  const again = () => take(stage, fault, { purchases, bought, fromBlock });
  const tally = await whenStill(again);
  if (contender.isOurs && tally.broken > 0) explain(purchases, bought);
  return {
    fault,
    contender: contender.name,
    isOurs: contender.isOurs,
    ...tally,
    tookMs: performance.now() - startMs,
  };
}

/** Money that stays in a channel counts as unaccounted for. */
async function closeSoon(close: () => Promise<void>): Promise<void> {
  for (let left = CLOSINGS; left > 0; left--) {
    try {
      return await close();
    } catch (error) {
      if (left === 1) console.error(`a channel could not be closed: ${error}`);
      await sleep(1000);
    }
  }
}

interface Made {
  readonly purchases: readonly TestPurchase[];
  readonly bought: ReadonlyMap<string, Bought>;
  readonly fromBlock: bigint;
}

async function take({ chain, worker }: Stage, fault: Fault, { purchases, bought, fromBlock }: Made): Promise<Tally> {
  const moved = await readPayments(chain, purchases, fromBlock);
  const accounts = purchases.flatMap(({ id, payer }) => {
    const of = moved.get(payer);
    return of ? [{ ...of, runs: worker.runsOf(id), hasResult: bought.get(id)?.hasResult ?? false }] : [];
  });
  return tallyOf(accounts, fault.isWorkLost);
}

/** The count once nothing moves any more, and, if money is missing, after half a minute. */
async function whenStill(count: () => Promise<Tally>): Promise<Tally> {
  const startMs = performance.now();
  let changedMs = startMs;
  let last = await count();
  for (;;) {
    await sleep(ASK_AGAIN_MS);
    const next = await count();
    const nowMs = performance.now();
    if (!isSame(last, next)) changedMs = nowMs;
    last = next;
    const isStill = nowMs - changedMs >= STILL_MS;
    if (isStill && (last.unaccountedMicro === 0n || nowMs - startMs >= OWED_MS)) return last;
  }
}

const isSame = (a: Tally, b: Tally): boolean =>
  Object.entries(a).every(([name, value]) => b[name as keyof Tally] === value);

/** The last answers to buyers without a result. */
function explain(purchases: readonly TestPurchase[], bought: ReadonlyMap<string, Bought>): void {
  const told = purchases.flatMap(({ id }) => {
    const what = bought.get(id);
    return what && !what.hasResult ? [`${id}: ${what.lastAnswer}`] : [];
  });
  if (told.length > 0) console.error(told.slice(0, 5).join('\n'));
}
