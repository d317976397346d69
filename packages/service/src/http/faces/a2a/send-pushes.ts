import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { HasChain } from '../../../chain/chain-info.ts';
import type { Records } from '../../../db/records.ts';
import { type EndpointAnswer, judge } from '../../../events/webhooks/attempt.ts';
import { postWebhook } from '../../../events/webhooks/webhook-client.ts';
import { readUnowned } from '../../../invocations/read-invocation.ts';
import type { HasLog } from '../../../lib/log/log.ts';
import type { HasGuardedFetch } from '../../../lib/net/guarded-fetch.ts';
import { daysBefore, removeInSteps } from '../../../lib/retention.ts';
import type { HasSecrets } from '../../../lib/secrets.ts';
import type { Repeating, Schedule } from '../../../queue/schedule.ts';
import { nextPush, type Push } from './next-push.ts';
import type { StreamResponse } from './protocol/wire.ts';
import { task03 } from './protocol/wire03.ts';
import type { PushSecrets } from './push-configs.ts';
import { type Attempt, createPushLanes } from './push-lanes.ts';
import {
  HAS_DUE_PUSHES,
  notePushed,
  notePushFailed,
  type PushRow,
  removeOldPushes,
  removeUnpaidPushes,
  takePushes,
} from './push-store.ts';
import { contextOf, plain, resultArtifact, taskOf, taskStatus } from './tasks.ts';

interface Sending extends Records, HasSecrets, HasGuardedFetch {}
type PushContext = Sending & HasChain & HasLog;

const TICK_MS = 500;
/** Longer than an attempt: after it, the process is taken for dead, and another one sends the message again. */
const LEASE_MS = 60_000;

/** Sends the pushes of tasks. A process that dies after a message and before its record sends it again: receivers take duplicates. */
export function startPushes(ctx: PushContext, schedule: Schedule): Repeating {
  const stopping = new AbortController();
  const lanes = createPushLanes();

  const begin = (row: PushRow) =>
    lanes.run(row, (attempt) =>
      tellAll(ctx, row, attempt, stopping.signal).catch((err: unknown) => {
        if (!stopping.signal.aborted) ctx.log.warn({ err }, 'push of a task failed; it is repeated');
      }),
    );

  const take = async () => {
    const room = lanes.room();
    const now = ctx.clock.now();
    const until = new Date(now.getTime() + LEASE_MS);
    const takeOf = async (isLate: boolean, limit: number) => {
      const rows = limit > 0 ? await takePushes(ctx.db, room, { isLate, limit, now, until }) : [];
      for (const row of rows) begin(row);
      return rows.length;
    };
    const taken = await takeOf(false, room.prompt);
    if (room.lateAccounts.length > 0) await takeOf(true, Math.min(room.late, room.prompt - taken));
  };

  schedule.here('send-pushes', TICK_MS, take, { look: { sql: HAS_DUE_PUSHES } });
  return {
    async stop() {
      await schedule.stop();
      stopping.abort();
      await lanes.ended();
    },
  };
}

/** Tells a receiver all that is new, one message after the other. */
async function tellAll(ctx: PushContext, first: PushRow, attempt: Attempt, stopping: AbortSignal): Promise<void> {
  let row = first;
  for (;;) {
    const record = await readUnowned(ctx, row.taskId);
    const push = record && nextPush(row.told, record.status);
    if (!record || !push) return;
    const secrets = secretsOf(ctx, row);
    if (!secrets) return notePushFailed(ctx.db, row, null);
    const message = bodyOf(ctx, row, push, record);
    const answer = await attempt((cut) => send(ctx, { ...row, ...secrets }, message, { stopping, cut }));
    const now = ctx.clock.now();
    const verdict = judge(answer, row.tries + 1, now, Math.random());
    if (verdict.state !== 'delivered') return notePushFailed(ctx.db, row, verdict.nextAttemptAt);
    const { told } = push;
    const hasMore = nextPush(told, record.status) !== null;
    // Given back when all is told: a row that is due is sent by whoever sees it, beside a message that is under way.
    const nextAt = hasMore ? new Date(now.getTime() + LEASE_MS) : now;
    if (!(await notePushed(ctx.db, row, { told, nextAt })) || !hasMore) return;
    row = { ...row, told, tries: 0 };
  }
}

/** Credentials of the pushes; null: they were sealed with another secret of the node, and are lost. */
function secretsOf({ secrets }: HasSecrets, { sealed }: PushRow): PushSecrets | null {
  const opened = secrets.openOrNull(sealed);
  return opened === null ? null : JSON.parse(opened);
}

const CUT_OFF: EndpointAnswer = {
  ...{
    status: null,
    error: 'No answer in time: too many receivers hang.',
    response: null,
    retryAfter: null,
    durationMs: 0,
  },
};

async function send(
  ctx: Sending,
  { url, version, scheme, token, credentials }: PushRow & PushSecrets,
  message: { readonly type: string; readonly body: string },
  { stopping, cut }: { readonly stopping: AbortSignal; readonly cut: AbortSignal },
): Promise<EndpointAnswer> {
  const headers = {
    'content-type': message.type,
    'a2a-version': version,
    ...(scheme === null ? {} : { authorization: `${scheme} ${credentials ?? ''}`.trim() }),
    ...(token === undefined ? {} : { 'x-a2a-notification-token': token }),
  };
  const signal = AbortSignal.any([stopping, cut]);
  return postWebhook(ctx, { url, headers, body: message.body, signal }).catch((error: unknown) => {
    if (stopping.aborted || !cut.aborted) throw error;
    return CUT_OFF;
  });
}

/** A message: in 1.0 an event of a stream, in 0.3 the task as it is. */
function bodyOf(ctx: HasChain, { version }: PushRow, { what }: Push, given: RequestRecord) {
  const record = plain(given);
  const shape = { network: ctx.chain.caip2 };
  const task = taskOf(record, shape);
  if (version === '0.3') return { type: 'application/json', body: JSON.stringify(task03(task)) };
  const contextId = contextOf(record);
  const place = { taskId: record.requestId, contextId };
  const events: Record<Push['what'], () => StreamResponse> = {
    task: () => ({ task }),
    status: () => ({ statusUpdate: { ...place, status: taskStatus(record, contextId, shape) } }),
    result: () => ({ artifactUpdate: { ...place, artifact: resultArtifact(record), lastChunk: true } }),
  };
  return { type: 'application/a2a+json', body: JSON.stringify(events[what]()) };
}

/** Longer than the terms of a payment hold. */
const UNPAID_MS = 3_600_000;

/** Removes configurations whose task has long ended, or was never paid. */
export const forgetPushes = async (ctx: Records): Promise<void> => {
  const now = ctx.clock.now();
  const before = new Date(now.getTime() - UNPAID_MS);
  await removeInSteps((most) => removeUnpaidPushes(ctx.db, { before, now, most }));
  await removeInSteps((most) => removeOldPushes(ctx.db, daysBefore(now, 1), daysBefore(now, 7), most));
};
