import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type BenchContext, type Figure, figureOf, invokeRequest, peerOf, peerRequest } from './bench-context.ts';
import { fillTreasury } from './bench-treasury.ts';
import { startNode } from './child-process.ts';
import { median } from './measure.ts';
import { runRounds } from './rounds.ts';

/** (f) A call that is only accepted: money held and request stored, both durable; its work comes after the answer. */
export async function benchAsync(ctx: BenchContext): Promise<Figure[]> {
  await fillTreasury(ctx);
  const client = new pg.Client({ connectionString: ctx.service.local.database });
  await client.connect();
  try {
    return await measureAll(ctx, client);
  } finally {
    await client.end();
  }
}

async function measureAll(ctx: BenchContext, client: pg.Client): Promise<Figure[]> {
  const insert = await startInsert(ctx);
  const figures: Figure[] = [];
  for (const callers of [1, 16, 64]) {
    const drains: { tookMs: number; perSecond: number }[] = [];
    let before = await countEnded(client);
    const after = async () => {
      const startMs = performance.now();
      const ended = await untilAllEnded(client);
      const tookMs = performance.now() - startMs;
      drains.push({ tookMs, perSecond: (ended - before) / (ctx.seconds + tookMs / 1000) });
      before = ended;
    };
    const common = { kind: 'plain', callers, seconds: ctx.seconds } as const;
    const ours = invokeRequest(ctx, { 'x-payment-method': 'treasury' });
    const accepted = { request: ours, status: 200, includes: '"requestId"' };
    const inserted = { request: peerRequest(insert), status: 200, includes: '"inserted"' };
    const [mine, theirs] = await runRounds(ctx.load, ctx.rounds, [
      { name: 'ours', job: { ...common, questions: [accepted] }, after },
      { name: 'one INSERT', job: { ...common, questions: [inserted] } },
    ]);
    if (!mine || !theirs) continue;
    const last = median(drains.map(({ tookMs }) => tookMs));
    const ended = median(drains.map(({ perSecond }) => perSecond));
    figures.push({
      ...figureOf('f', 'treasury-paid async call, accepted', callers, mine),
      peer: peerOf('one INSERT', mine, theirs),
      note: `the last ended ${(last / 1000).toFixed(2)} s after the last was accepted; ended per second, from the first accepted: ${ended.toFixed(0)}`,
    });
  }
  return figures;
}

async function startInsert({ stops, service }: BenchContext): Promise<string> {
  const script = fileURLToPath(new URL('plain-insert.ts', import.meta.url));
  const child = startNode([script], { DATABASE_URL: service.local.database });
  stops.add(() => child.stop());
  return child.line(/^http:/);
}

const EVERY_MS = 10;

/** Resolves with how many have ended once none is left that has not. */
async function untilAllEnded(client: pg.Client): Promise<number> {
  for (;;) {
    const { rows } = await client.query<{ open: boolean }>(
      `select exists (select from invocation where status in ('pending', 'processing')) as open`,
    );
    if (!rows[0]?.open) return countEnded(client);
    await sleep(EVERY_MS);
  }
}

/** Throws when one ended otherwise than completed. */
async function countEnded(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ completed: number; other: number }>(
    `select count(*) filter (where status = 'completed')::int as completed,
            count(*) filter (where status in ('failed', 'cancelled'))::int as other from invocation`,
  );
  if (rows[0]?.other) throw new Error(`${rows[0].other} accepted calls did not complete`);
  return rows[0]?.completed ?? 0;
}
