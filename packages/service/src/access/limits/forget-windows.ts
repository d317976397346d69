import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { removeInSteps } from '../../lib/retention.ts';
import { dropWindows } from './window-store.ts';

/** Windows last an hour; one more for processes whose clocks differ. */
const KEPT_MS = 2 * 3_600_000;

/** Removes windows of limits that have ended: each address that has made a call has one. */
export const forgetWindows = (ctx: HasDb & HasClock): Promise<void> =>
  removeInSteps((most) => dropWindows(ctx.db, new Date(ctx.clock.now().getTime() - KEPT_MS), most));
