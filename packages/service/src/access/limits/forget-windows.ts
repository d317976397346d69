import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { daysBefore, removeInSteps } from '../../lib/retention.ts';
import { dropWindows } from './window-store.ts';

/** Removes windows of limits a day after their begin; they last an hour. */
export const forgetWindows = (ctx: HasDb & HasClock): Promise<void> =>
  removeInSteps((most) => dropWindows(ctx.db, daysBefore(ctx.clock.now(), 1), most));
