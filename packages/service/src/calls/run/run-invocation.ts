import type { AgentProtocol } from '@agent-network/contracts/agents/upstream';
import type { CallableAgent } from '../../agents/agent.ts';
import type { AgentServices } from '../../agents/agent-services.ts';
import {
  beginWithoutSecrets,
  openUpstream,
  type Upstream,
  type UpstreamFields,
  withoutSecrets,
} from '../../agents/health/upstream.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { withFileLinks } from '../../files/file-refs.ts';
import type { FileServices } from '../../files/file-services.ts';
import { invariant } from '../../lib/invariant.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import { resumed } from '../../lib/telemetry/tracing.ts';
import type { Store } from '../../store/database.ts';
import { DatabaseAwayError } from '../../store/database-away.ts';
import { whileAway } from '../../store/while-away.ts';
import type { CallServices } from '../call-services.ts';
import {
  type AgentOutcome,
  type Failure,
  hasEnded,
  type Invocation,
  type Outcome,
  type Question,
} from '../invocation.ts';
import { findInvocation } from '../invocation-store.ts';
import { a2aAdapter } from '../protocols/a2a/a2a-call-client.ts';
import type { Adapter, AgentCall, CallContext, CallTarget } from '../protocols/adapter.ts';
import { callOnce } from '../protocols/call-once.ts';
import { callHttp, tellCancelled } from '../protocols/http-client.ts';
import { httpTemplateAdapter } from '../protocols/http-template-client.ts';
import { mcpAdapter } from '../protocols/mcp/mcp-call-client.ts';
import { mipAdapter } from '../protocols/mip/mip-call-client.ts';
import { openaiAdapter } from '../protocols/openai/openai-client.ts';
import { callHome, type HomeCallContext } from '../remote/call-home.ts';
import { type AskContext, askCaller } from '../turns/ask-caller.ts';
import { findAnswers } from '../turns/turn-store.ts';
import { latestEnd } from '../turns/turn-times.ts';
import { type AcceptFilesContext, acceptFiles, asGiven, giveUpFiles, mediaOf } from './accept-files.ts';
import { findOverdue } from './queue-store.ts';

export interface RunContext
  extends HomeCallContext,
    AskContext,
    AcceptFilesContext,
    Pick<NodeKeys, 'secrets'>,
    Pick<FileServices, 'filesBaseUrl'>,
    Pick<CallServices, 'finisher'>,
    Pick<AgentServices, 'agentFinder' | 'typeChecks'> {}

/**
 * Calls the agent and ends the invocation with the outcome. When this process is stopping, leaves it open: it is given back for another
 * process to run under the same key. An end from elsewhere takes precedence. While the database is away, the outcome waits for it.
 * `askedBefore`: time since which a dead process may have called the agent; null: none has.
 */
export async function runInvocation(
  ctx: RunContext & Pick<CallServices, 'runner'>,
  invocation: Invocation,
  signal: AbortSignal,
  askedBefore: Date | null = null,
): Promise<Invocation> {
  return runFound(ctx, invocation, await ctx.agentFinder.find(invocation.agentId), signal, askedBefore);
}

/** Runs an invocation, as `runInvocation` does, with the agent already looked up. */
export async function runFound(
  ctx: RunContext & Pick<CallServices, 'runner'>,
  invocation: Invocation,
  agent: CallableAgent | null,
  signal: AbortSignal,
  askedBefore: Date | null = null,
): Promise<Invocation> {
  if (!agent) return ctx.finisher.finish({ invocation, outcome: agentRemoved });
  return runOn(ctx, invocation, agent, signal, askedBefore);
}

const agentRemoved: Outcome = {
  kind: 'failed',
  reason: 'agent_removed',
  message: 'The agent was removed before it could be called.',
};

/** Failure for a lost token: calls are signed with it, so the agent could not tell the node from a stranger. */
const tokenLost: Outcome = {
  kind: 'failed',
  reason: 'agent_unreachable',
  message:
    "The node cannot open the agent's identityToken since its SECRET_KEY was changed: the agent's owner has to ask for a new one.",
};

type RunnableAgent = UpstreamFields & Pick<CallableAgent, 'tokenSealed' | 'home'>;

/** Calls a local agent directly, a remote one through its home node, which holds the result to the agent's schema. */
async function call(
  ctx: RunContext,
  invocation: Invocation,
  { tokenSealed, home, ...agent }: RunnableAgent,
  { media, signal }: Pick<AgentCall, 'media' | 'signal'>,
): Promise<AgentOutcome> {
  const accepting = { invocation, media, signal, home };
  const answers = invocation.turn > 1 ? await findAnswers(ctx.db, invocation.id) : [];
  if (home) return accepted(ctx, accepting, await callHome(ctx, { home, invocation, answers, signal }));
  const target = targetOf(ctx, invocation, { ...agent, tokenSealed });
  if (target === null) return tokenLost;
  const [input, ...given] = await withLinks(ctx, invocation, [invocation.input, ...answers.map(({ input }) => input)]);
  const sent = { ...invocation, input: input ?? invocation.input };
  const linked = answers.map((answer, index) => ({ ...answer, input: given[index] ?? answer.input }));
  const answered = await callAgent(ctx, { target, invocation: sent, answers: linked, media, signal });
  const outcome = await accepted(ctx, accepting, answered);
  return whileAway(signal, () => checked(ctx, { invocation, media }, outcome));
}

const accepted = async (
  ctx: RunContext,
  accepting: Parameters<typeof acceptFiles>[1],
  outcome: AgentOutcome,
): Promise<AgentOutcome> => (outcome.kind === 'completed' ? acceptFiles(ctx, accepting, outcome) : outcome);

/** Values of a request as its agent gets them: with links to their files. */
async function withLinks<T>(ctx: RunContext, invocation: Invocation, values: readonly T[]): Promise<T[]> {
  const { id, accountId, callerAgentId, createdAt, inputTimeoutS } = invocation;
  // The same links in each turn: the same call may be recognised by its bytes.
  const deadline = inputTimeoutS === null ? invocation.deadline : latestEnd(createdAt);
  const use = { requestId: id, ownerId: callerAgentId ?? accountId, deadline };
  const linked: T[] = [];
  for (const value of values) linked.push(await withFileLinks(ctx, value, use));
  return linked;
}

/** The endpoint of an agent of this node; null: its token is lost. */
export function targetOf(
  { secrets }: Pick<NodeKeys, 'secrets'>,
  { agentId }: Pick<Invocation, 'agentId'>,
  { tokenSealed, ...agent }: Omit<RunnableAgent, 'home'>,
): CallTarget | null {
  invariant(tokenSealed !== null, 'an agent of this node has an identityToken');
  const identityToken = secrets.openOrNull(tokenSealed);
  return identityToken === null ? null : { ...openUpstream(secrets, { ...agent, id: agentId }), identityToken };
}

/** A result that does not fit the schema that the agent declared when the request was accepted is a failure. */
async function checked(
  ctx: RunContext,
  { invocation, media }: Pick<AgentCall, 'invocation' | 'media'>,
  outcome: AgentOutcome,
): Promise<AgentOutcome> {
  if (outcome.kind !== 'completed' || invocation.typesId === null) return outcome;
  const { result } = outcome;
  const files = filesOf(invocation, media);
  const fault = await ctx.typeChecks.faultOfResult(invocation, result, files);
  if (fault === null) return outcome;
  const given = media.forms.size === 0 ? result : asGiven(media, result);
  const isFine = given !== result && (await ctx.typeChecks.faultOfResult(invocation, given, files)) === null;
  return isFine ? outcome : { kind: 'failed', reason: 'result_invalid', message: fault };
}

const filesOf = ({ accountId, callerAgentId }: Invocation, { stored }: AgentCall['media']) => ({
  ownerId: callerAgentId ?? accountId,
  added: Object.fromEntries([...stored].map(([id, { mediaType, size }]) => [id, { mediaType, size }])),
});

/** The outcome of a call that our own fault broke: it is made again until its deadline. The money is not held for ever. */
function endOfFault(ctx: RunContext, { id, deadline }: Invocation, error: unknown): Outcome {
  if (error instanceof DatabaseAwayError || deadline > ctx.clock.now()) throw error;
  ctx.log.error(
    { err: error, requestId: id },
    'agent call kept failing because of an internal error; deadline reached',
  );
  return {
    kind: 'failed',
    reason: 'deadline_exceeded',
    message: 'The deadline passed before the agent could be called.',
  };
}

/** Runs an invocation with an agent that exists. */
export async function runOn(
  ctx: RunContext & Pick<CallServices, 'runner'>,
  invocation: Invocation,
  agent: RunnableAgent,
  signal: AbortSignal,
  askedBefore: Date | null = null,
): Promise<Invocation> {
  const askedAt = askedBefore ?? ctx.clock.now();
  const media = mediaOf(ctx, invocation, signal);
  const ended = await runWith(ctx, { invocation, agent, media, signal, askedAt });
  if (media.stored.size > 0 && ended.status !== 'completed') await giveUpFiles(ctx, media);
  return ended;
}

interface Running extends Pick<AgentCall, 'invocation' | 'media' | 'signal'> {
  readonly agent: RunnableAgent;
  readonly askedAt: Date;
}

async function runWith(
  ctx: RunContext & Pick<CallServices, 'runner'>,
  { invocation, agent, media, signal, askedAt }: Running,
): Promise<Invocation> {
  const { id, agentId } = invocation;
  const names = { 'agent_network.request_id': id, 'agent_network.agent_id': agentId };
  const answered =
    invocation.deadline <= askedAt
      ? outOfTime
      : await resumed(id, 'run invocation', names, () =>
          call(ctx, invocation, agent, { media, signal }).catch((error) => endOfFault(ctx, invocation, error)),
        );
  if (ctx.runner.signal.aborted) return invocation;
  if (signal.aborted) {
    const found = await findInvocation(ctx.db, invocation.id);
    if (found && hasEnded(found.status)) return found;
  }
  const end =
    answered.kind === 'asks'
      ? await whileAway(ctx.runner.signal, () => askCaller(ctx, invocation, answered))
      : answered;
  if (answered.kind === 'asks' && answered.handle !== null && end.kind === 'failed')
    void cancelWork(ctx, invocation, agent, answered.handle);
  if (end.kind === 'asked' || end.kind === 'lost') return (await findInvocation(ctx.db, invocation.id)) ?? invocation;
  const outcome = afterDecline(invocation, end);
  // A second time it ends nothing: attempt and state are compared.
  return whileAway(ctx.runner.signal, () => ctx.finisher.finish({ invocation, outcome, askedAt }));
}

/** An agent that can't do without the answer that was declined has not failed by itself. */
const afterDecline = ({ turns }: Invocation, outcome: Outcome): Outcome =>
  outcome.kind === 'failed' && outcome.reason === 'agent_error' && turns?.at(-1)?.action === 'decline'
    ? { ...outcome, reason: 'input_declined' }
    : outcome;

type Call = (ctx: CallContext, call: AgentCall) => Promise<AgentOutcome>;

interface Protocol {
  readonly call: Call;
  readonly cancel?: Adapter['cancel'];
}

const once = (adapter: Adapter): Protocol => ({
  ...adapter,
  call: (ctx, call) => callOnce(ctx, call, adapter),
});

const calls: Record<AgentProtocol, Protocol> = {
  http: { call: callHttp, cancel: (ctx, call, url) => tellCancelled(ctx, url, call) },
  'http-template': once(httpTemplateAdapter),
  a2a: once(a2aAdapter),
  openai: once(openaiAdapter),
  mcp: once(mcpAdapter),
  'mip-003': once(mipAdapter),
};

/** Cancels the work that an agent of this node keeps for a question. Sent once; failures are ignored. */
export async function cancelWork(
  ctx: RunContext,
  invocation: Invocation,
  { home, ...agent }: RunnableAgent,
  handle: string,
): Promise<void> {
  try {
    const target = home ? null : targetOf(ctx, invocation, agent);
    if (target !== null) await calls[target.protocol].cancel?.(ctx, { target, invocation, answers: [] }, handle);
  } catch (err) {
    ctx.log.debug({ err, requestId: invocation.id }, 'the agent was not told that its work is not needed');
  }
}

/** Calls an agent in the protocol of its endpoint. Never throws for a fault of the agent or the network: every end is an outcome. */
async function callAgent(ctx: CallContext, call: AgentCall): Promise<AgentOutcome> {
  const outcome = await calls[call.target.protocol].call(ctx, call);
  if (outcome.kind === 'asks') return { ...outcome, question: shownQuestion(call.target, outcome.question) };
  return outcome.kind === 'failed' ? { ...outcome, message: shownMessage(call.target, outcome.message) } : outcome;
}

/** A question without the owner's secrets, which an endpoint may repeat. */
const shownQuestion = (target: Pick<Upstream, 'headers'>, question: Question): Question =>
  Object.keys(target.headers).length === 0 ? question : JSON.parse(withoutSecrets(target, JSON.stringify(question)));

const MAX_SHOWN = 560;

/** The beginning of a message about a failure, without the owner's secrets and the part of one in which it is cut off. */
export const shownMessage = (target: Pick<Upstream, 'headers'>, message: string): string =>
  message.length <= MAX_SHOWN
    ? withoutSecrets(target, message)
    : `${beginWithoutSecrets(target, message, MAX_SHOWN).toWellFormed()}…`;

const BATCH = 100;

/** The end of a request that waited for a slot until its deadline. */
const outOfTime: Failure = {
  kind: 'failed',
  reason: 'deadline_exceeded',
  message: 'The deadline passed before there was room to call the agent.',
  isUnasked: true,
};

/**
 * Fails all queued requests past their deadline, and refunds them. Tries each once, so that a locked treasury does not delay the others.
 */
export async function failOverdue(ctx: Store & CallServices & Telemetry): Promise<void> {
  const triedIds: string[] = [];
  for (let isFull = true; isFull; ) {
    const overdue = await findOverdue(ctx.db, ctx.clock.now(), { triedIds, limit: BATCH });
    await Promise.all(overdue.map((invocation) => endOverdue(ctx, invocation)));
    triedIds.push(...overdue.map(({ id }) => id));
    isFull = overdue.length === BATCH;
  }
}

const endOverdue = (ctx: CallServices & Telemetry, invocation: Invocation): Promise<unknown> =>
  ctx.finisher
    .finish({ invocation, outcome: outOfTime })
    .catch((err) => ctx.log.warn({ err, requestId: invocation.id }, 'overdue request could not be ended; retrying'));
