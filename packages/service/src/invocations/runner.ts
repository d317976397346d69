import type { HasAgentFinder } from '../agents/find-agent.ts';
import type { HasDb } from '../db/database.ts';
import type { HasClock } from '../lib/clock.ts';
import type { HasGuardedFetch } from '../lib/guarded-fetch.ts';
import type { HasLog } from '../lib/log.ts';
import type { HasSecrets } from '../lib/secrets.ts';
import { callAgent } from './agent-client.ts';
import type { HasFinisher } from './finish-invocations.ts';
import type { Invocation, Outcome } from './invocation.ts';

export type RunContext = HasDb & HasClock & HasLog & HasSecrets & HasGuardedFetch & HasFinisher & HasAgentFinder;

/** Runs invocations in this process; the one way to run, whether a caller waits or not. */
export interface Runner {
  /** Follows work on a request to its end. `work` runs at once, and only once at a time for a request. */
  track(requestId: string, work: () => Promise<Invocation>): Promise<Invocation>;
  /** The end of a request that this process is working on; null when it is not. */
  ending(requestId: string): Promise<Invocation> | null;
  trackedIds(): string[];
  /** Whether there is room for work that nobody waits for. */
  hasRoom(): boolean;
  /** Resolves when nothing is running, or after `graceMs`; then what is left is given up here. */
  drain(graceMs: number): Promise<void>;
  readonly signal: AbortSignal;
}

export interface HasRunner {
  readonly runner: Runner;
}

export function createRunner(options: { maxRunning: number }): Runner {
  const running = new Map<string, Promise<Invocation>>();
  const stopping = new AbortController();
  return {
    signal: stopping.signal,
    track(requestId, work) {
      const known = running.get(requestId);
      if (known) return known;
      const ending = work().finally(() => running.delete(requestId));
      ending.catch(() => undefined);
      running.set(requestId, ending);
      return ending;
    },
    ending: (requestId) => running.get(requestId) ?? null,
    trackedIds: () => [...running.keys()],
    hasRoom: () => running.size < options.maxRunning,
    async drain(graceMs) {
      let timer: NodeJS.Timeout | undefined;
      const timeUp = new Promise((resolve) => {
        timer = setTimeout(resolve, graceMs);
      });
      await Promise.race([Promise.allSettled([...running.values()]), timeUp]);
      clearTimeout(timer);
      stopping.abort();
    },
  };
}

/**
 * Calls the agent and ends the invocation with what came of it. When this process is stopping, it is left as it is: it has been,
 * or will be, given back for another to run under the same key.
 */
export async function runInvocation(ctx: RunContext & HasRunner, invocation: Invocation): Promise<Invocation> {
  const agent = await ctx.agentFinder.find(invocation.agentId);
  if (!agent) return ctx.finisher.finish({ invocation, outcome: agentRemoved });
  return runOn(ctx, invocation, agent);
}

const agentRemoved: Outcome = {
  kind: 'failed',
  reason: 'agent_removed',
  message: 'The agent was removed before it could be called.',
};

/** The same for a caller that has just looked the agent up. */
export async function runOn(
  ctx: RunContext & HasRunner,
  invocation: Invocation,
  agent: { endpoint: string; tokenSealed: Buffer },
): Promise<Invocation> {
  const target = { endpoint: agent.endpoint, identityToken: ctx.secrets.open(agent.tokenSealed) };
  const outcome = await callAgent(ctx, target, invocation, ctx.runner.signal);
  if (ctx.runner.signal.aborted) return invocation;
  return ctx.finisher.finish({ invocation, outcome });
}
