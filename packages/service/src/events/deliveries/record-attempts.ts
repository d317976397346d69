import { createBatcher } from '../../lib/concurrency/batcher.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import { insertAttempts, type MadeAttempt } from '../webhooks/attempt-store.ts';
import { type EndpointHealth, type Findings, nextHealth } from '../webhooks/endpoint-health.ts';
import { failPending } from '../webhooks/fail-pending.ts';
import { lockWebhooks, updateWebhookRow, type WebhookRow } from '../webhooks/webhook-store.ts';

/** An attempt, where it was sent, and whether it can change its endpoint's health. */
export interface SentAttempt extends MadeAttempt {
  readonly url: string;
  readonly concernsEndpoint: boolean;
}

/** Records attempts; batches concurrent ones into one transaction. */
export interface AttemptRecorder {
  record(attempt: SentAttempt): Promise<void>;
}

const MAX_BATCH = 200;

export function createAttemptRecorder(ctx: Store & Pick<Telemetry, 'log'>): AttemptRecorder {
  const batcher = createBatcher<SentAttempt, void>({
    maxSize: MAX_BATCH,
    run: async (attempts) => {
      const disabled = await ctx.db.transaction((tx) => recordAll(ctx, tx, attempts));
      // Other endpoints' attempts do not wait for it; a recurring job does what is left.
      for (const id of disabled)
        failPending(ctx, id).catch((err: unknown) =>
          ctx.log.warn({ err, webhookId: id }, 'deliveries of a disabled webhook are still pending'),
        );
      return attempts.map(() => undefined);
    },
  });
  return { record: (attempt) => batcher.add(attempt) };
}

/** Returns the ids of the webhooks that the attempts disabled. */
async function recordAll(
  ctx: Store & Pick<Telemetry, 'log'>,
  tx: Tx,
  attempts: readonly SentAttempt[],
): Promise<string[]> {
  const concerning = Map.groupBy(
    attempts.filter((attempt) => attempt.concernsEndpoint),
    ({ webhookId }) => webhookId,
  );
  const webhooks = concerning.size > 0 ? await lockWebhooks(tx, [...concerning.keys()]) : [];
  await insertAttempts(tx, attempts);
  const disabled: string[] = [];
  for (const webhook of webhooks) {
    // The owner has changed the URL meanwhile: what the former one answered says nothing of the new one.
    const own = concerning.get(webhook.id)?.filter(({ url }) => url === webhook.url) ?? [];
    if (own.length > 0 && (await writeHealth(ctx, tx, webhook, findingsOf(own)))) disabled.push(webhook.id);
  }
  return disabled;
}

function findingsOf(attempts: readonly SentAttempt[]): Findings {
  const pauses = attempts.flatMap(({ verdict }) => (verdict.pauseUntil ? [verdict.pauseUntil.getTime()] : []));
  return {
    isAnswering: attempts.some(({ verdict }) => verdict.state === 'delivered'),
    isGone: attempts.some(({ verdict }) => verdict.isGone),
    pauseUntil: pauses.length > 0 ? new Date(Math.max(...pauses)) : null,
  };
}

/** Returns true when the webhook is disabled now and was not before. */
async function writeHealth(
  ctx: Store & Pick<Telemetry, 'log'>,
  tx: Tx,
  webhook: WebhookRow,
  found: Findings,
): Promise<boolean> {
  const health: EndpointHealth = nextHealth(webhook, found, ctx.clock.now());
  await updateWebhookRow(tx, { ...webhook, ...health });
  if (health.status === webhook.status) return false;
  ctx.log.warn({ webhookId: webhook.id, reason: health.disabledReason }, 'webhook endpoint disabled');
  return true;
}
