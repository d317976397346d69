import { operatorAccounts } from '../../access/accounts/operators.ts';
import { emit } from '../../events/outbox/outbox.ts';
import type { Telemetry } from '../../lib/log/telemetry.ts';
import { readReserves } from './read-reserves.ts';
import { nextEpisode } from './reserves.ts';
import { lockEpisode, writeEpisode } from './reserves-store.ts';

type WatchContext = Parameters<typeof readReserves>[0] & Telemetry;

/**
 * Compares wallet and books. A drift in two consecutive checks is reported to the operators once per episode; the metric
 * `reserves_difference_micro` shows the amount throughout. It keeps its value while the chain does not answer:
 * `reserves_checked_timestamp_seconds` says how old it is.
 */
export async function watchReserves(ctx: WatchContext): Promise<void> {
  const { reserves, driftMicro, lossMicro } = await readReserves(ctx);
  ctx.metrics.reservesDifference.set(Number(driftMicro));
  ctx.metrics.booksLoss.set(Number(lossMicro));
  ctx.metrics.reservesChecked.setToCurrentTime();
  const now = ctx.clock.now();
  const { tells, wasTold } = await ctx.db.transaction(async (tx) => {
    const before = await lockEpisode(tx);
    const next = nextEpisode(before, reserves.status);
    await writeEpisode(tx, next);
    const operators = next.tells ? await operatorAccounts(tx, now) : [];
    const subjectId = `${reserves.block.number}`;
    const events = operators.map((accountId) => ({
      type: 'reserves.drift' as const,
      accountId,
      subjectId,
      data: reserves,
    }));
    await emit(tx, events, now);
    return { tells: next.tells, wasTold: before.isTold };
  });
  const fields = { stream: 'security', driftMicro: String(driftMicro), reserves };
  if (tells) ctx.log.error(fields, 'reserves drift: wallet balance differs from the books');
  else if (wasTold && reserves.status !== 'drift')
    ctx.log.warn(fields, 'reserves drift ended: wallet balance matches the books');
}
