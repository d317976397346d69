import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { openAccount } from '../../../src/accounts/open-account.ts';
import type { Dispatcher } from '../../../src/events/deliveries/dispatcher.ts';
import { listDeliveries } from '../../../src/events/deliveries/list-deliveries.ts';
import { createWebhookDispatcher } from '../../../src/events/deliveries/webhook-dispatcher.ts';
import type { NewEvent } from '../../../src/events/outbox/new-event.ts';
import { emit } from '../../../src/events/outbox/outbox.ts';
import type { Subjects } from '../../../src/events/outbox/subjects.ts';
import { createWebhook, type WebhookContext } from '../../../src/events/webhooks/manage-webhooks.ts';
import { createMetrics } from '../../../src/lib/metrics.ts';
import { createGuardedFetch } from '../../../src/lib/net/guarded-fetch.ts';
import { createSecrets } from '../../../src/lib/secrets.ts';
import { silentLog as log } from '../../../src/lib/telemetry/log.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { startHeartbeat } from '../../../src/store/queue/heartbeat.ts';
import { createSchedule } from '../../../src/store/queue/schedule.ts';
import { type FixedClock, fixedClock } from '../../support/fixed-clock.ts';
import { BASE_URL, SECRET_KEY } from './sample-event.ts';

export interface EventWorld {
  readonly ctx: WebhookContext & { readonly clock: FixedClock; readonly baseUrl: string };
  readonly db: Database;
  newAccount(): Promise<{ accountId: string }>;
  /** Commits the events and wakes the dispatchers, as a node does. */
  emit(...events: NewEvent[]): Promise<void>;
  /** A process's webhook dispatcher, which runs until the test ends. */
  startDispatcher(options?: Partial<Pick<Subjects, 'readSubject'>> & { allowPrivate?: boolean }): Promise<Dispatcher>;
  newEndpoint(accountId: string, url: string): Promise<{ webhookId: string; secret: string }>;
  deliveries(accountId: string, webhookId: string): ReturnType<typeof listDeliveries>;
}

const guarded = (allowPrivate: boolean) => {
  const guardedFetch = createGuardedFetch({ allowPrivate, userAgent: 'test' });
  onTestFinished(() => guardedFetch.close());
  return guardedFetch;
};

/** Events and webhooks without the rest of a node: real database, real HTTP, a clock that stands still. */
export function openEventWorld(databaseUrl: string): EventWorld {
  const db = openDatabase(databaseUrl, { max: 10, log });
  onTestFinished(() => db.close());
  const clock = fixedClock(new Date());
  const base = { db, log, clock, secrets: createSecrets(SECRET_KEY), baseUrl: BASE_URL };
  const ctx = { ...base, guardedFetch: guarded(true) };
  const dispatchers: Dispatcher[] = [];
  return {
    ctx,
    db,
    newAccount: () =>
      openAccount(ctx, { address: `0x${randomBytes(20).toString('hex')}`, plan: 'enterprise', isWalletProven: true }),
    async emit(...events) {
      await db.transaction((tx) => emit(tx, events, clock.now()));
      for (const each of dispatchers) each.requestRun();
    },
    async startDispatcher({ allowPrivate = true, readSubject = noSubjects } = {}) {
      const heartbeat = await startHeartbeat({ db, log }, { self: { label: 'test' } });
      const processId = () => heartbeat.processId();
      const metrics = createMetrics();
      const webhookDispatcher = createWebhookDispatcher({
        ...base,
        metrics,
        guardedFetch: guarded(allowPrivate),
        processId,
        readSubject,
      });
      dispatchers.push(webhookDispatcher);
      const schedule = createSchedule({ db, log, metrics }, () => ({ now: clock.now(), chainId: 0, token: '' }));
      const running = webhookDispatcher.start(schedule);
      onTestFinished(async () => {
        await schedule.stop();
        await running.stop();
        await heartbeat.stop();
      });
      return webhookDispatcher;
    },
    newEndpoint: (accountId, url) => createWebhook(ctx, { accountId }, { url, description: '' }),
    deliveries: (accountId, webhookId) => listDeliveries(ctx, { accountId }, webhookId, { limit: 100 }),
  };
}

async function noSubjects(): Promise<never> {
  throw new Error('no event of this test is without data');
}
