import { createWebhookDispatcher } from '../../src/events/deliveries/webhook-dispatcher.ts';
import { emit } from '../../src/events/outbox/outbox.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { createGuardedFetch } from '../../src/lib/net/guarded-fetch.ts';
import { createSecrets } from '../../src/lib/secrets.ts';
import { silentLog as log } from '../../src/lib/telemetry/log.ts';
import { openDatabase } from '../../src/store/database.ts';
import { startHeartbeat } from '../../src/store/queue/heartbeat.ts';
import { createSchedule } from '../../src/store/queue/schedule.ts';
import { BASE_URL, happened, SECRET_KEY } from './support/sample-event.ts';

/** A process that commits three events, reports to its parent, delivers if asked to, and is killed by its parent. */
const [url, accountId, delivers] = process.argv.slice(2);
if (url === undefined || accountId === undefined)
  throw new Error('usage: webhook-dispatcher-child.ts <database> <account> [deliver]');
const db = openDatabase(url, { max: 5, log });
const events = ['agt_1', 'agt_2', 'agt_3'].map((subject) => happened(accountId, subject));
await db.transaction((tx) => emit(tx, events, clock.now()));
const heartbeat = await startHeartbeat({ db, log }, { self: { label: 'child' } });
if (delivers === 'deliver') {
  const guardedFetch = createGuardedFetch({ allowPrivate: true, userAgent: 'child' });
  const readSubject = async () => null;
  const processId = () => heartbeat.processId();
  const secrets = createSecrets(SECRET_KEY);
  const metrics = createMetrics();
  const ctx = { db, log, clock, metrics, secrets, baseUrl: BASE_URL, guardedFetch, processId, readSubject };
  createWebhookDispatcher(ctx).start(
    createSchedule({ db, log, metrics }, () => ({ now: clock.now(), chainId: 0, token: '' })),
  );
}
process.send?.({ processId: heartbeat.processId() });
