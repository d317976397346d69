import type { Caller } from '../accounts/caller.ts';
import { networkOf } from '../lib/net/address-ranges.ts';
import { removeInSteps } from '../lib/retention.ts';
import type { Offer } from '../payments/x402/terms.ts';
import type { Store } from '../store/database.ts';
import {
  endUnpaid,
  findUnpaid,
  findUnpaidOf,
  hasManyKeyless,
  type NewUnpaidTask,
  recordRefusal,
  removeUnpaid,
  trimUnpaid,
  type UnpaidTask,
  writeUnpaid,
} from './unpaid-store.ts';

export type { UnpaidTask };

/** Most that a caller has; the oldest make room. Paid ones stay for their payment to be shown again, as they do after a lost answer. */
export const MAX_EACH = { waiting: 20, paid: 200 };
/** Larger calls are not kept: their message is sent again with the payment. */
const MAX_BYTES = 65_536;
/** Limits of calls without a key, in total for all networks, as a caller can have many networks. */
const MAX_KEYLESS_BYTES = 16_384;
const MAX_KEYLESS = 10_000;

/** The callers of one account share nothing: an agent has its own. */
function holderOf(caller: Caller): string {
  if (caller.kind === 'anonymous') return `network ${networkOf(caller.address) ?? caller.address}`;
  return caller.kind === 'agent' ? caller.agentId : caller.accountId;
}

export type UnpaidCall = Pick<NewUnpaidTask, 'agentId' | 'body' | 'quoteId' | 'messageKey' | 'refusal'>;

/**
 * Keeps a call that waits for its payment until the terms end, under the id of the request that the payment creates. Null: it is too large, or too many wait.
 * A process that dies here has promised nothing: the same message gets new terms.
 */
export async function keepUnpaid(
  ctx: Store,
  caller: Caller,
  call: UnpaidCall,
  { id, offer, expiresAt }: { readonly id: string; readonly offer: Pick<Offer, 'v1' | 'v2'>; readonly expiresAt: Date },
): Promise<UnpaidTask | null> {
  const known = caller.kind === 'anonymous' ? null : caller;
  if (Buffer.byteLength(JSON.stringify(call.body)) > (known ? MAX_BYTES : MAX_KEYLESS_BYTES)) return null;
  if (!known && (await hasManyKeyless(ctx.db, MAX_KEYLESS))) return null;
  const holder = holderOf(caller);
  const task = {
    ...{ ...call, id, holder, offer, expiresAt },
    accountId: known?.accountId ?? null,
    callerAgentId: known?.kind === 'agent' ? known.agentId : null,
    createdAt: ctx.clock.now(),
  };
  await ctx.db.transaction(async (tx) => {
    await writeUnpaid(tx, task);
    await trimUnpaid(tx, holder, MAX_EACH);
  });
  return { ...task, ended: null, isPaid: false };
}

/** A caller's call that waits for its payment, or was paid a short time ago. If it was made without a key, its id is enough to read it. */
export async function readUnpaid(ctx: Store, caller: Caller, id: string): Promise<UnpaidTask | null> {
  const found = await findUnpaid(ctx.db, id, ctx.clock.now());
  if (!found) return null;
  if (caller.kind === 'anonymous') return found.accountId === null ? found : null;
  const isTheirs =
    found.accountId === caller.accountId && (caller.kind === 'account' || found.callerAgentId === caller.agentId);
  return isTheirs ? found : null;
}

/** A caller's calls of an agent that wait for their payment, newest first. */
export const listUnpaid = async (ctx: Store, caller: Caller, agentId: string): Promise<UnpaidTask[]> =>
  findUnpaidOf(ctx.db, { holder: holderOf(caller), agentId, now: ctx.clock.now() });

/** Records the reason for refusing the last payment of a call. Its terms stay valid. */
export async function refuseUnpaid(ctx: Store, task: UnpaidTask, refusal: string): Promise<UnpaidTask> {
  await recordRefusal(ctx.db, task.id, refusal);
  return { ...task, refusal };
}

/** Ends a call that will not be paid: its payment is refused from here on. False: it was paid or ended before. */
export const giveUpUnpaid = (ctx: Store, id: string, how: 'rejected' | 'cancelled'): Promise<boolean> =>
  ctx.db.transaction((tx) => endUnpaid(tx, id, how));

/** Removes calls with expired terms. */
export const forgetUnpaid = (ctx: Store): Promise<void> =>
  removeInSteps((most) => removeUnpaid(ctx.db, ctx.clock.now(), most));
