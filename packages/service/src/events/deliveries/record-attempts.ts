import type { HasDb } from '../../db/database.ts';
import type { Tx } from '../../db/sql.ts';
import type { HasClock } from '../../lib/clock.ts';
import { createBatcher } from '../../lib/concurrency/batcher.ts';
import type { HasLog } from '../../lib/log/log.ts';
import { failPending, insertAttempts, type MadeAttempt } from '../webhooks/attempt-store.ts';
import { type Findings, nextStanding, type Standing } from '../webhooks/endpoint-standing.ts';
import { lockWebhooks, updateWebhookRow, type WebhookRow } from '../webhooks/webhook-store.ts';

/** An attempt, and whether it can change its endpoint's standing. */
export interface Outcome extends MadeAttempt {
  readonly concernsEndpoint: boolean;
}

/** Records attempts; batches concurrent ones into one transaction. */
export interface AttemptRecorder {
  record(outcome: Outcome): Promise<void>;
}

const MAX_BATCH = 200;

export function createAttemptRecorder(ctx: HasDb & HasClock & HasLog): AttemptRecorder {
  const batcher = createBatcher<Outcome, void>({
    maxSize: MAX_BATCH,
    run: async (outcomes) => {
      await ctx.db.transaction((tx) => recordAll(ctx, tx, outcomes));
      return outcomes.map(() => undefined);
    },
  });
  return { record: (outcome) => batcher.add(outcome) };
}

async function recordAll(ctx: HasClock & HasLog, tx: Tx, outcomes: readonly Outcome[]): Promise<void> {
  const concerning = Map.groupBy(
    outcomes.filter((outcome) => outcome.concernsEndpoint),
    ({ webhookId }) => webhookId,
  );
  const webhooks = concerning.size > 0 ? await lockWebhooks(tx, [...concerning.keys()]) : [];
  await insertAttempts(tx, outcomes);
  for (const webhook of webhooks) await writeStanding(ctx, tx, webhook, findingsOf(concerning.get(webhook.id) ?? []));
}

function findingsOf(outcomes: readonly Outcome[]): Findings {
  const pauses = outcomes.flatMap(({ verdict }) => (verdict.pauseUntil ? [verdict.pauseUntil.getTime()] : []));
  return {
    isAnswering: outcomes.some(({ verdict }) => verdict.state === 'delivered'),
    isGone: outcomes.some(({ verdict }) => verdict.isGone),
    pauseUntil: pauses.length > 0 ? new Date(Math.max(...pauses)) : null,
  };
}

async function writeStanding(ctx: HasClock & HasLog, tx: Tx, webhook: WebhookRow, found: Findings): Promise<void> {
  const standing: Standing = nextStanding(webhook, found, ctx.clock.now());
  await updateWebhookRow(tx, { ...webhook, ...standing });
  if (standing.status === webhook.status) return;
  await failPending(tx, webhook.id);
  ctx.log.warn({ webhookId: webhook.id, reason: standing.disabledReason }, 'webhook endpoint disabled');
}
