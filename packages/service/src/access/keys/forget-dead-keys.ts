import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/duration.ts';
import { removeInSteps } from '../../lib/retention.ts';
import { dropDeadKeys } from './dead-key-store.ts';

/** As long as the audit log tells what was done with a key. */
const KEPT_MS = 400 * DAY_MS;

/** Removes keys 400 days after they expired or were revoked. */
export const forgetDeadKeys = (ctx: HasDb & HasClock): Promise<void> =>
  removeInSteps((most) => dropDeadKeys(ctx.db, new Date(ctx.clock.now().getTime() - KEPT_MS), most));
