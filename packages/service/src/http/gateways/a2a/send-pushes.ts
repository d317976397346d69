import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { readUnowned } from '../../../calls/read-invocation.ts';
import { type GivenAnswer, readAnswers } from '../../../calls/turns/read-answers.ts';
import type { NodeIdentity } from '../../../chain/chain-info.ts';
import type { NodeKeys } from '../../../chain/keys/node-keys.ts';
import type { SlotBounds } from '../../../events/deliveries/delivery-slots.ts';
import { createDispatcher, type Dispatcher, type Sender } from '../../../events/deliveries/dispatcher.ts';
import { judge } from '../../../events/webhooks/attempt.ts';
import type { Outbound } from '../../../lib/net/guarded-fetch.ts';
import { daysBefore, removeInSteps } from '../../../lib/retention.ts';
import type { Telemetry } from '../../../lib/telemetry/telemetry.ts';
import type { Store } from '../../../store/database.ts';
import { type FilesContext, filesOf } from './a2a-call.ts';
import { nextPush, type Push } from './next-push.ts';
import type { PushSecrets } from './push-configs.ts';
import {
  HAS_DUE_PUSHES,
  type PushRow,
  recordPushAttempt,
  removeOldPushes,
  removeUnpaidPushes,
  takePushes,
} from './push-store.ts';
import { contextOf, plain, resultArtifact, taskOf, taskStatus, usageMetadata } from './tasks.ts';
import type { StreamResponse } from './wire.ts';
import { task03 } from './wire03.ts';

type PushContext = Store & Pick<NodeKeys, 'secrets'> & Outbound & NodeIdentity & FilesContext & Telemetry;

/** Longer than an attempt: after it, the process is taken for dead, and another one sends the message again. */
const LEASE_MS = 60_000;
const leaseFrom = (now: Date) => new Date(now.getTime() + LEASE_MS);

/**
 * Beyond a number of hanging receivers the sender cuts them off: free accounts have many configurations, and the state can be read instead.
 */
const BOUNDS: SlotBounds = { prompt: 64, late: 16, each: 4, hanging: 256 };

/** Sends the pushes of tasks. A process that dies after a message and before its record sends it again: receivers take duplicates. */
export const createPushDispatcher = (ctx: PushContext): Dispatcher =>
  createDispatcher(ctx, {
    job: 'send-pushes',
    isDue: HAS_DUE_PUSHES,
    bounds: BOUNDS,
    take(wanted) {
      const now = ctx.clock.now();
      return takePushes(ctx.db, wanted, { each: BOUNDS.each, now, until: leaseFrom(now) });
    },
    async run(first, { send }) {
      for (let row: PushRow | null = first; row !== null; ) row = await tellNext(ctx, row, send);
      return false;
    },
  });

/** Sends the next message of a push, and records the attempt. Returns the updated push if there is more to send. */
async function tellNext(ctx: PushContext, row: PushRow, send: Sender['send']): Promise<PushRow | null> {
  const record = await readUnowned(ctx, row.taskId);
  const push = record && nextPush(row.told, record);
  if (!record || !push) return null;
  const secrets = secretsOf(ctx, row);
  const answers = await readAnswers(ctx, record);
  const answer = secrets && (await send(messageOf(ctx, { ...row, ...secrets }, push, { record, answers })));
  const now = ctx.clock.now();
  const tries = row.tries + 1;
  const verdict = answer && judge(answer, tries, now, Math.random());
  if (verdict?.state !== 'delivered') {
    await recordPushAttempt(ctx.db, row, { told: row.told, tries, nextAt: verdict?.nextAttemptAt ?? null });
    return null;
  }
  const { told } = push;
  const hasMore = nextPush(told, record) !== null;
  // The lease is given back only when all is told: whoever sees a push that is due sends it, also beside a message that is under way.
  const nextAt = hasMore ? leaseFrom(now) : now;
  const after = { told, tries: 0, nextAt: told === 'ended' ? null : nextAt };
  const isRecorded = await recordPushAttempt(ctx.db, row, after);
  return isRecorded && hasMore ? { ...row, told, tries: 0 } : null;
}

/** Credentials of the pushes; null: they were sealed with another secret of the node, and are lost. */
function secretsOf({ secrets }: Pick<NodeKeys, 'secrets'>, { sealed }: PushRow): PushSecrets | null {
  const opened = secrets.openOrNull(sealed);
  return opened === null ? null : JSON.parse(opened);
}

interface Told {
  readonly record: RequestRecord;
  readonly answers: readonly GivenAnswer[];
}

/** The message of a push: in 1.0 an event of a stream, in 0.3 the task itself. */
function messageOf(
  ctx: NodeIdentity & FilesContext,
  to: PushRow & PushSecrets,
  { what }: Push,
  { record: given, answers }: Told,
) {
  const { url, version, scheme, token, credentials } = to;
  const record = plain(given);
  const shape = { network: ctx.chain.caip2, answers, filesOf: filesOf(ctx) };
  const task = taskOf(record, shape);
  const contextId = contextOf(record);
  const place = { taskId: record.requestId, contextId };
  const events: Record<Push['what'], () => StreamResponse> = {
    task: () => ({ task }),
    status: () => ({
      statusUpdate: { ...place, status: taskStatus(record, contextId, shape), ...usageMetadata(record) },
    }),
    result: () => ({ artifactUpdate: { ...place, artifact: resultArtifact(record, shape), lastChunk: true } }),
  };
  const headers = {
    'content-type': version === '0.3' ? 'application/json' : 'application/a2a+json',
    'a2a-version': version,
    ...(scheme === null ? {} : { authorization: `${scheme} ${credentials ?? ''}`.trim() }),
    ...(token === undefined ? {} : { 'x-a2a-notification-token': token }),
  };
  return { url, headers, body: JSON.stringify(version === '0.3' ? task03(task) : events[what]()) };
}

/** Longer than the terms of a payment hold. */
const UNPAID_MS = 3_600_000;

/** Removes configurations of tasks that ended long ago or were never paid. */
export const forgetPushes = async (ctx: Store): Promise<void> => {
  const now = ctx.clock.now();
  const before = new Date(now.getTime() - UNPAID_MS);
  await removeInSteps((most) => removeUnpaidPushes(ctx.db, { before, now, most }));
  await removeInSteps((most) => removeOldPushes(ctx.db, daysBefore(now, 1), daysBefore(now, 7), most));
};
