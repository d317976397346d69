import type { InvocationCreated, RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { formatUsdc } from '@agent-network/contracts/money';
import { formatDuration } from '../lib/duration.ts';
import { iso } from '../lib/iso.ts';
import type { AskedTurn } from './invocation.ts';
import type { InvocationRecord, InvocationState } from './record-store.ts';
import { shownProgress } from './stream/progress.ts';

/** The result is a value, or JSON as stored. */
type Shown = InvocationState & { readonly result: unknown } & Pick<InvocationRecord, 'progress'>;

const usdc = (micro: bigint | null) => (micro === null ? null : formatUsdc(micro));

export const toCreated = (invocation: InvocationState): InvocationCreated => ({
  requestId: invocation.id,
  status: invocation.status,
  estimatedCost: formatUsdc(invocation.priceMicro),
  estimatedTime: invocation.estimatedTime,
  deadline: invocation.deadline.toISOString(),
  agentId: invocation.agentId,
  requestedAgentId: invocation.requestedAgentId,
  createdAt: invocation.createdAt.toISOString(),
  ...chosenOf(invocation),
});

/** The fields of an interactive request. Without its contents, what was asked is gone. */
function turnsOf({ inputTimeoutS, turn, turns, status, contentRemovedAt }: InvocationState) {
  if (inputTimeoutS === null || turns === null) return {};
  const last = turns.at(-1);
  return {
    turn,
    ...(status === 'input_required' && last ? { inputRequest: toInputRequest(last) } : {}),
    ...(contentRemovedAt === null ? { turns: turns.map(toTurn) } : {}),
  };
}

/** A question as its caller sees it. */
export const toInputRequest = ({ inputId, turn, kind, message, schema, url, askedAt, expiresAt }: AskedTurn) => ({
  ...{ inputId, turn, kind, message },
  ...(schema === null ? {} : { schema }),
  ...(url === null ? {} : { url }),
  ...{ createdAt: new Date(askedAt).toISOString(), expiresAt: new Date(expiresAt).toISOString() },
});

const toTurn = ({ turn, message, askedAt, answeredAt, action }: AskedTurn) => ({
  ...{ turn, message, askedAt: new Date(askedAt).toISOString(), action },
  answeredAt: answeredAt === null ? null : new Date(answeredAt).toISOString(),
});

function progressOf({ progress: stored }: Pick<Shown, 'progress'>) {
  const progress = shownProgress(stored);
  return progress ? { progress } : {};
}

const chosenOf = ({ chosen }: InvocationState) => (chosen ? { chosen } : {});

const durationOf = ({ startedAt, completedAt }: InvocationState) =>
  startedAt && completedAt ? formatDuration(completedAt.getTime() - startedAt.getTime()) : null;

/** Amount still due from the agent's home node; null: none known. */
const expectedOf = ({ promisedMicro, returnedMicro }: InvocationState) =>
  promisedMicro !== null && promisedMicro > returnedMicro ? promisedMicro - returnedMicro : null;

export const toRecord = (invocation: Shown): RequestRecord => ({
  requestId: invocation.id,
  status: invocation.status,
  agentId: invocation.agentId,
  requestedAgentId: invocation.requestedAgentId,
  task: invocation.task,
  result: invocation.result ?? null,
  cost: usdc(invocation.costMicro),
  duration: durationOf(invocation),
  paymentHash: invocation.paymentHash,
  createdAt: invocation.createdAt.toISOString(),
  completedAt: iso(invocation.completedAt),
  deadline: invocation.deadline.toISOString(),
  priority: invocation.priority,
  metadata: invocation.metadata,
  paymentMethod: invocation.paymentMethod,
  refund: usdc(invocation.refundMicro),
  refundExpected: usdc(expectedOf(invocation)),
  error: invocation.errorCode ? { code: invocation.errorCode, message: invocation.errorMessage ?? '' } : null,
  bulkId: invocation.bulkId,
  ...(invocation.usage ? { usage: invocation.usage } : {}),
  ...(invocation.contentRemovedAt ? { contentRemovedAt: invocation.contentRemovedAt.toISOString() } : {}),
  ...chosenOf(invocation),
  ...turnsOf(invocation),
  ...progressOf(invocation),
});

/** The spec's answer to an agent (docs/spec.md, section 3), added to the record. */
export const toAgentResult = (invocation: Shown) => ({
  ...toRecord(invocation),
  completion_time: durationOf(invocation),
  agent_id: invocation.agentId,
});
