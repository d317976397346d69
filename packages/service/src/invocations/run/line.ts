import type { Invocation } from '../invocation.ts';
import type { HasPlaceLimits } from '../places/places.ts';
import { createLineSpeeds, type LineSpeeds } from './line-speed.ts';
import { type LineOf, readLine } from './queue-store.ts';
import type { RunContext } from './run-invocation.ts';

/** Requests of a lane that are about to be queued. */
export interface LineEntry extends LineOf, Pick<Invocation, 'deadline'> {
  readonly count: number;
}

/** Call `leave` once the requests are stored or abandoned. */
export type Joined =
  | { readonly kind: 'in'; readonly leave: () => void }
  | { readonly kind: 'full' }
  | { readonly kind: 'too_slow'; readonly expectedMs: number };

/** The lines of lanes: who may be queued. */
export interface Lines {
  /**
   * Reserves queue entries. `full`: the lane would exceed its limit, with entries of other processes counted, but not their reservations.
   * `too_slow`: in the line of this priority for these agents, the new ones have to expect a wait that is longer than they have until their
   * deadline.
   */
  join(entry: LineEntry): Promise<Joined>;
}

/** An expected wait is a guess, and a call takes time after it. */
const SAFETY = 1.25;

export function createLines(ctx: Pick<RunContext, 'db' | 'clock'> & HasPlaceLimits): Lines {
  const joining = new Map<string, number>();
  const speeds = createLineSpeeds();
  return {
    async join(entry) {
      const { lane, count } = entry;
      const joined = (joining.get(lane) ?? 0) + count;
      joining.set(lane, joined);
      const leave = () => {
        const left = (joining.get(lane) ?? 0) - count;
        if (left > 0) joining.set(lane, left);
        else joining.delete(lane);
      };
      let answer: Joined = { kind: 'full' };
      try {
        answer = await judge(ctx, entry, { speeds, joined, leave });
      } finally {
        if (answer.kind !== 'in') leave();
      }
      return answer;
    },
  };
}

/** A reservation whose request is stored in the meantime is briefly counted twice: that refuses too many, never too few. */
async function judge(
  ctx: Pick<RunContext, 'db' | 'clock'> & HasPlaceLimits,
  entry: LineEntry,
  { speeds, joined, leave }: { speeds: LineSpeeds; joined: number; leave: () => void },
): Promise<Joined> {
  const { mostWaiting } = ctx.placeLimits;
  if (joined > mostWaiting) return { kind: 'full' };
  const { count, firstSince } = await readLine(ctx.db, entry, mostWaiting);
  if (joined + count > mostWaiting) return { kind: 'full' };
  const nowMs = ctx.clock.now().getTime();
  const line = `${entry.lane} ${entry.priority} ${entry.agentIds.join()}`;
  const expectedMs = firstSince ? speeds.expectedMs(line, firstSince.getTime(), nowMs) : 0;
  const leftMs = entry.deadline.getTime() - nowMs;
  return expectedMs * SAFETY > leftMs ? { kind: 'too_slow', expectedMs } : { kind: 'in', leave };
}
