import { isAccountSuspended } from '../../accounts/suspension.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { emit } from '../../events/outbox/outbox.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import { type Agent, type AgentEvent, type FaultDetail, nextAgentStatus } from '../agent.ts';
import type { AgentChange } from '../agent-change-store.ts';
import { lockAgentRow } from '../agent-lock-store.ts';
import { agentEventsOf, changeAgent } from '../change-agent.ts';
import { type RegistrationContext, registerVerified } from '../onchain/register-verified.ts';
import { reputationAfterProbe } from '../reputation/recompute-reputations.ts';
import { checkUpstream, type UpstreamCheck } from './check-upstream.ts';
import { addProbe } from './probe-store.ts';
import { type ProofSources, proveAgent } from './prove-agent.ts';
import { type EndpointProof, tryChallenge } from './prove-endpoint.ts';
import { openUpstream, type Upstream } from './upstream.ts';
import { kindOf, UpstreamFault } from './upstream-client.ts';

export interface CheckContext extends RegistrationContext, Telemetry, Pick<NodeKeys, 'secrets'>, ProofSources {
  /** Spec: `location`. Where agents of this node are at home. */
  readonly nodeLabel: string;
}

/** Weight of the newest response time in the moving average. */
const NEWEST = 0.2;

/** Proves the endpoint of a pending agent, or probes another. Records nothing once the signal aborts: the node cuts its calls off then. */
export async function checkAgent(ctx: CheckContext, agent: Agent, signal: AbortSignal): Promise<void> {
  try {
    if (agent.status === 'pending_verification') await tryProof(ctx, agent, signal);
    else await probe(ctx, agent, signal);
  } catch (error) {
    if (signal.aborted) return;
    ctx.log.error({ err: error, agentId: agent.id }, 'agent check failed');
  }
}

/** Tries to prove the endpoint of an agent and records the result. An agent with a wrong upstream is proven and offline. */
export async function tryProof(ctx: CheckContext, agent: Agent, signal?: AbortSignal): Promise<EndpointProof> {
  if (agent.tokenSealed === null) return { isProven: false, reason: 'Its home is another node, which proves it.' };
  const lost = lostToken(ctx, agent);
  const upstream = openUpstream(ctx.secrets, agent);
  const proof: EndpointProof = lost
    ? { isProven: false, reason: lost.message }
    : await proveAgent(ctx, { agent, upstream, identityToken: ctx.secrets.open(agent.tokenSealed) });
  const { fault, digest } = proof.isProven && agent.protocol !== 'http' ? await checkUpstream(ctx, upstream) : unasked;
  if (signal?.aborted) return proof;
  const now = ctx.clock.now();
  await record(ctx, agent, (current) => {
    const checksDone = current.checksDone + 1;
    if (!proof.isProven) {
      const faultDetail = lost?.detail ?? unprovenDetail(proof);
      const nextCheckAt = current.status === 'pending_verification' ? nextVerification(checksDone, now) : now;
      return { events: [], change: { checksDone, nextCheckAt, lastPingAt: now, fault: proof.reason, faultDetail } };
    }
    const responseMs = current.responseMs ?? proof.tookMs;
    const seen = { lastPingAt: now, lastSeenAt: now, failedInARow: 0, passedInARow: 1, responseMs };
    const nextCheckAt = nextProbe(false, Math.random(), now);
    // A proof on demand accepts what the endpoint takes now.
    const found = { upstreamDigest: digest, fault: fault?.message ?? null, faultDetail: fault?.detail ?? null };
    return {
      events: [...(current.isAccepting ? (['proven'] as const) : []), ...(fault ? (['went_down'] as const) : [])],
      change: { checksDone, endpointProvenAt: now, nextCheckAt, ...seen, ...found },
    };
  });
  return proof;
}

const unasked: UpstreamCheck = { fault: null, digest: null };

async function probe(ctx: CheckContext, agent: Agent, signal: AbortSignal): Promise<void> {
  const startMs = performance.now();
  const upstream = openUpstream(ctx.secrets, agent);
  const lost = lostToken(ctx, agent);
  const found = lost ? unasked : await checkUpstream(ctx, upstream);
  const fault = lost ?? (await liveFault(ctx, agent, upstream, found.fault)) ?? changedFault(agent, found.digest);
  if (signal.aborted) return;
  const isAlive = fault === null;
  const tookMs = performance.now() - startMs;
  const now = ctx.clock.now();
  // Counted first, so that the reputation computed below includes it.
  await addProbe(ctx.db, agent.id, isAlive ? tookMs : null, now);
  await record(ctx, agent, (current) => {
    const isOut = lost !== null || (fault?.isCertain === true && agent.protocol !== 'http');
    const failedInARow = isAlive ? 0 : current.failedInARow + 1;
    const passedInARow = isAlive ? current.passedInARow + 1 : 0;
    const event = isOut ? 'went_down' : eventOf(current, failedInARow, passedInARow);
    const isDeciding = event === null && isAlive !== (current.status === 'online') && current.isAccepting;
    const nextCheckAt = nextProbe(isDeciding, Math.random(), now);
    const average = current.responseMs === null ? tookMs : current.responseMs * (1 - NEWEST) + tookMs * NEWEST;
    const seen = isAlive ? { lastSeenAt: now, responseMs: average } : {};
    const known = {
      fault: fault?.message ?? null,
      faultDetail: fault?.detail ?? null,
      // Until the owner proves the endpoint again, it is held to what it took first, also after a time in which it did not say.
      upstreamDigest: current.upstreamDigest ?? (isAlive ? found.digest : null),
    };
    const change = { failedInARow, passedInARow, nextCheckAt, lastPingAt: now, ...seen, ...known };
    return { events: event === null ? [] : [event], change };
  });
}

const TOKEN_LOST =
  "The node cannot open the agent's identityToken since its SECRET_KEY was changed: ask for a new one (POST /identity/verify with newIdentityToken).";

/** Fault of an agent with a token sealed by another secret of the node: its calls can't be signed. */
const lostToken = ({ secrets }: Pick<NodeKeys, 'secrets'>, { tokenSealed }: Agent): UpstreamFault | null =>
  tokenSealed === null || secrets.openOrNull(tokenSealed) !== null
    ? null
    : new UpstreamFault(TOKEN_LOST, { detail: { kind: 'token_lost', status: null, body: null } });

/** The fault of an endpoint that takes something else than it took when its owner listed it. */
const changedFault = ({ upstreamDigest }: Agent, digest: string | null): UpstreamFault | null =>
  upstreamDigest === null || digest === null || upstreamDigest === digest
    ? null
    : new UpstreamFault(
        'The endpoint changed the schema of its input or result. To accept it, prove the endpoint again (POST /identity/verify).',
        { detail: { kind: 'changed', status: null, body: null } },
      );

/** The server, or a proxy in front of it, reports itself that it does not accept calls. */
const SERVICE_UNAVAILABLE = 503;

/**
 * Fault of a probe; null if the endpoint works all the same. Some agents that accept only POST fail at a GET, so a status above 500 is
 * followed by the challenge, which is a POST. 503 counts as a fault without that.
 */
async function liveFault(
  ctx: CheckContext,
  agent: Agent,
  upstream: Upstream,
  fault: UpstreamFault | null,
): Promise<UpstreamFault | null> {
  const { status = null } = fault?.detail ?? {};
  if (agent.protocol !== 'http' || status === null || status === SERVICE_UNAVAILABLE || !agent.tokenSealed)
    return fault;
  const identityToken = ctx.secrets.open(agent.tokenSealed);
  const claim = { agentId: agent.id, endpoint: agent.endpoint, identityToken, headers: upstream.headers };
  return (await tryChallenge(ctx, claim)).isProven ? null : fault;
}

function unprovenDetail({ failed }: Extract<EndpointProof, { isProven: false }>): FaultDetail {
  if (!failed) return { kind: 'unproven', status: null, body: null };
  if ('error' in failed) return { kind: kindOf[failed.error.kind], status: null, body: null };
  return { kind: 'unproven', status: failed.status, body: null };
}

function eventOf(agent: Agent, failedInARow: number, passedInARow: number): AgentEvent | null {
  if (failedInARow >= MISSES_UNTIL_DOWN) return 'went_down';
  return passedInARow >= ANSWERS_UNTIL_UP && agent.isAccepting ? 'came_up' : null;
}

/** True when the endpoint, how it is called, its credentials, and the secret that proves it are still those of the check. */
const isAsChecked = (current: Agent, checked: Agent): boolean =>
  current.endpoint === checked.endpoint &&
  current.protocol === checked.protocol &&
  JSON.stringify(current.upstream) === JSON.stringify(checked.upstream) &&
  isSameSeal(current.upstreamHeadersSealed, checked.upstreamHeadersSealed) &&
  current.tokenSealed !== null &&
  isSameSeal(current.tokenSealed, checked.tokenSealed);

const isSameSeal = (one: Buffer | null, other: Buffer | null): boolean =>
  one === null || other === null ? one === other : one.equals(other);

/** Applies a result to the current state of the agent, which may have been changed or removed during the check. */
async function record(
  ctx: RegistrationContext & { readonly nodeLabel: string },
  checked: Agent,
  find: (current: Agent) => { events: readonly AgentEvent[]; change: AgentChange },
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const current = await lockAgentRow(tx, checked.id);
    if (!current || !isAsChecked(current, checked)) return;
    const { events, change } = find(current);
    // Read by a statement of its own after the agent is locked: a suspension either is seen, or waits for the agent.
    const isHeld = await isAccountSuspended(tx, current.accountId);
    const status = (isHeld ? (['went_down'] as const) : events).reduce(nextAgentStatus, current.status);
    const after = { ...current, ...change, status };
    const now = ctx.clock.now();
    const reputation = await reputationAfterProbe(tx, after, now);
    await changeAgent(tx, current, { ...change, status, reputation }, now);
    await registerVerified(ctx, tx, after, now);
    await emit(tx, agentEventsOf(current, { ...after, reputation }, ctx.nodeLabel), now);
  });
}

/** Pauses between attempts to prove a pending agent's endpoint, after a first attempt at once; after the last one, only on demand. */
const verificationPausesMs = [60_000, 300_000, 1_800_000, 7_200_000, 43_200_000];
const PROBE_MS = 60_000;
/** Probe interval while answers contradict the status, so that a change of status is decided soon. */
const DECIDING_MS = 5_000;
const JITTER = 0.2;

/** Consecutive misses until `offline`, and consecutive answers until `online`. */
export const MISSES_UNTIL_DOWN = 3;
export const ANSWERS_UNTIL_UP = 2;

/** Time of a pending agent's next verification after its `triesDone`th attempt; null when the schedule is used up. */
export function nextVerification(triesDone: number, now: Date): Date | null {
  const pauseMs = verificationPausesMs[triesDone - 1];
  return pauseMs === undefined ? null : new Date(now.getTime() + pauseMs);
}

/** Time of an agent's next probe. `random` in [0, 1) spreads the probes of many agents. */
export function nextProbe(isDeciding: boolean, random: number, now: Date): Date {
  const pauseMs = isDeciding ? DECIDING_MS : PROBE_MS;
  return new Date(now.getTime() + Math.round(pauseMs * (1 - JITTER + 2 * JITTER * random)));
}
