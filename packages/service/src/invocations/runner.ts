import type { CallableAgent } from '../agents/agent.ts';
import type { HasAgentFinder } from '../agents/find-agent.ts';
import type { HasDb } from '../db/database.ts';
import { invariant } from '../lib/invariant.ts';
import type { HasLog } from '../lib/log.ts';
import type { HasSecrets } from '../lib/secrets.ts';
import type { CallContext } from './agent-call.ts';
import { callAgent } from './agent-client.ts';
import type { HasFinisher } from './end-invocations.ts';
import { callHome } from './home/call-home.ts';
import { hasEnded, type Invocation, type Outcome } from './invocation.ts';
import { findInvocation } from './invocation-store.ts';
import { STOPPING } from './stopping.ts';

export type RunContext = CallContext & HasDb & HasLog & HasSecrets & HasFinisher & HasAgentFinder;

/** Runs invocations in this process; the one way to run, whether a caller waits or not. */
export interface Runner {
  /** Follows work on a request to its end. `work` runs at once, and only once at a time for a request. */
  track(requestId: string, work: (signal: AbortSignal) => Promise<Invocation>): Promise<Invocation>;
  /** The end of a request that this process is working on; null when it is not. */
  ending(requestId: string): Promise<Invocation> | null;
  trackedIds(): string[];
  /** Keeps room for up to `most` works that nobody waits for and that are about to begin. */
  reserve(most: number): Reservation;
  /** Called whenever room has become free. */
  onRoom(listener: () => void): void;
  /** Breaks off the call of a request that was ended elsewhere. */
  abort(requestId: string): void;
  /** Resolves when nothing is running, or after `graceMs`; then what is left is given up here. */
  drain(graceMs: number): Promise<void>;
  /** Aborted when this process stops working. */
  readonly signal: AbortSignal;
}

export interface Reservation {
  /** For how many there is room: 0 when this process has enough to do, or stops. */
  readonly room: number;
  /** To be called once they are tracked, or have come to nothing. */
  giveBack(): void;
}

export interface HasRunner {
  readonly runner: Runner;
}

export function createRunner(options: { maxRunning: number }): Runner {
  const running = new Map<string, { ending: Promise<Invocation>; abort: AbortController }>();
  const stopping = new AbortController();
  let onRoom = () => {};
  let reserved = 0;
  const forget = (requestId: string) => {
    running.delete(requestId);
    onRoom();
  };
  return {
    signal: stopping.signal,
    track(requestId, work) {
      const known = running.get(requestId);
      if (known) return known.ending;
      const abort = new AbortController();
      const ending = work(AbortSignal.any([abort.signal, stopping.signal])).finally(() => forget(requestId));
      ending.catch(() => undefined);
      running.set(requestId, { ending, abort });
      return ending;
    },
    ending: (requestId) => running.get(requestId)?.ending ?? null,
    trackedIds: () => [...running.keys()],
    reserve(most) {
      const left = stopping.signal.aborted ? 0 : options.maxRunning - running.size - reserved;
      const room = Math.max(0, Math.min(most, left));
      reserved += room;
      return {
        room,
        giveBack() {
          reserved -= room;
          if (room > 0) onRoom();
        },
      };
    },
    onRoom(listener) {
      onRoom = listener;
    },
    abort: (requestId) => running.get(requestId)?.abort.abort(),
    async drain(graceMs) {
      let timer: NodeJS.Timeout | undefined;
      const timeUp = new Promise((resolve) => {
        timer = setTimeout(resolve, graceMs);
      });
      await Promise.race([Promise.allSettled([...running.values()].map(({ ending }) => ending)), timeUp]);
      clearTimeout(timer);
      stopping.abort(STOPPING);
    },
  };
}

/**
 * Calls the agent and ends the invocation with what came of it. When this process is stopping, it is left as it is: it has been,
 * or will be, given back for another to run under the same key. When it was ended elsewhere meanwhile, that end stands.
 */
export async function runInvocation(
  ctx: RunContext & HasRunner,
  invocation: Invocation,
  signal: AbortSignal,
): Promise<Invocation> {
  return runFound(ctx, invocation, await ctx.agentFinder.find(invocation.agentId), signal);
}

/** The same for a caller that has looked for the agent. */
export async function runFound(
  ctx: RunContext & HasRunner,
  invocation: Invocation,
  agent: CallableAgent | null,
  signal: AbortSignal,
): Promise<Invocation> {
  if (!agent) return ctx.finisher.finish({ invocation, outcome: agentRemoved });
  return runOn(ctx, invocation, agent, signal);
}

const agentRemoved: Outcome = {
  kind: 'failed',
  reason: 'agent_removed',
  message: 'The agent was removed before it could be called.',
};

/** An agent of this node is called itself, one of another node through the node where it is at home. */
function call(
  ctx: RunContext,
  invocation: Invocation,
  { endpoint, tokenSealed, home }: Pick<CallableAgent, 'endpoint' | 'tokenSealed' | 'home'>,
  signal: AbortSignal,
): Promise<Outcome> {
  if (home) return callHome(ctx, { home, invocation, signal });
  invariant(tokenSealed !== null, 'an agent of this node has an identityToken');
  return callAgent(ctx, { target: { endpoint, identityToken: ctx.secrets.open(tokenSealed) }, invocation, signal });
}

/** The same for a caller that has just looked the agent up. */
export async function runOn(
  ctx: RunContext & HasRunner,
  invocation: Invocation,
  agent: Pick<CallableAgent, 'endpoint' | 'tokenSealed' | 'home'>,
  signal: AbortSignal,
): Promise<Invocation> {
  const outcome = await call(ctx, invocation, agent, signal);
  if (ctx.runner.signal.aborted) return invocation;
  if (signal.aborted) {
    const found = await findInvocation(ctx.db, invocation.id);
    if (found && hasEnded(found.status)) return found;
  }
  return ctx.finisher.finish({ invocation, outcome });
}
