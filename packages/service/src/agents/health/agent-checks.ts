import { setTimeout as delay } from 'node:timers/promises';
import { createOnDemandRun } from '../../lib/concurrency/on-demand-run.ts';
import { createSemaphore } from '../../lib/concurrency/semaphore.ts';
import { unlessAborted } from '../../lib/concurrency/unless-aborted.ts';
import type { AgentChecks } from '../agent-services.ts';
import { type CheckRoom, type DueAgent, takeDueAgents } from '../agent-store.ts';
import { type CheckContext, checkAgent } from './check-agents.ts';

/**
 * Checks at a time, of all runs. Agents that answer late or never hold a place for up to 15 seconds: they have half of the places, and
 * with the pending ones, which may be such, a tenth for each account, so that those of others do not wait for them.
 */
const MAX_AT_ONCE = 100;
const MAX_SLOW_AT_ONCE = 50;
const MAX_OF_ACCOUNT_AT_ONCE = 10;
const SLOW_MS = 1000;
/** Due agents that are considered at a time. */
const MAX_CONSIDERED = 5000;
/** Interval of the search for due agents while slow endpoints are being checked. */
const LOOK_AGAIN_MS = 250;
/** Lease of a check: after it the check counts as lost with its process, and is due again. */
const LOST_AFTER_MS = 30_000;

export function createAgentChecks(ctx: CheckContext): AgentChecks {
  const running = new Map<Promise<void>, DueAgent>();
  const stopping = new AbortController();
  const { signal } = stopping;
  const begins = createSemaphore();
  let isLooking = false;

  /** Begins due checks that have room. Runs one at a time, so that checks begun elsewhere are counted. */
  function begin(): Promise<Promise<void>[]> {
    return begins.run(async () => {
      if (signal.aborted) return [];
      const now = ctx.clock.now();
      const lostAt = new Date(now.getTime() + LOST_AFTER_MS);
      const due = await takeDueAgents(ctx.db, now, lostAt, roomBeside([...running.values()]));
      return due.map((agent) => {
        const check = checkAgent(ctx, agent, signal).finally(() => running.delete(check));
        running.set(check, agent);
        return check;
      });
    });
  }

  /** Polls for due agents as long as checks are running, and at once when the last batch has ended. */
  async function look(first: readonly Promise<void>[]): Promise<void> {
    let begun = first;
    while (running.size > 0 && !signal.aborted) {
      const isWaiting = begun.length === 0 || running.size >= MAX_AT_ONCE;
      const someEnd: Promise<unknown> = isWaiting ? Promise.race(running.keys()) : Promise.all(begun);
      const pause = delay(LOOK_AGAIN_MS, undefined, { ref: false, signal }).catch(() => undefined);
      await Promise.race([someEnd, pause]);
      begun = await begin();
    }
  }

  async function run(): Promise<void> {
    const own = await begin();
    if (isLooking) return unlessAborted(Promise.all(own), signal);
    isLooking = true;
    await look(own).finally(() => {
      isLooking = false;
    });
  }

  return { run, ...createOnDemandRun(run, ctx.log), stop: () => stopping.abort() };
}

function roomBeside(running: readonly DueAgent[]): CheckRoom {
  const ofAccounts = new Map<string, number>();
  for (const { accountId, isSlow, status } of running)
    if (isSlow || status === 'pending_verification') ofAccounts.set(accountId, (ofAccounts.get(accountId) ?? 0) + 1);
  return {
    checks: MAX_AT_ONCE - running.length,
    slowChecks: MAX_SLOW_AT_ONCE - running.filter(({ isSlow }) => isSlow).length,
    slowMs: SLOW_MS,
    checksOfAccount: MAX_OF_ACCOUNT_AT_ONCE,
    running: ofAccounts,
    considered: MAX_CONSIDERED,
  };
}
