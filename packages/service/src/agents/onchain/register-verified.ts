import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { DAY_MS } from '../../lib/duration.ts';
import type { PaymentConditions } from '../../payments/chain-outbox/chain-context.ts';
import type { RegistryIndex } from '../../registry/read/registry-tokens.ts';
import { queueWrite } from '../../registry/write/queue-write.ts';
import { registerCall, uriCall } from '../../registry/write/registry-calls.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import { type Agent, isVerified } from '../agent.ts';
import { countTokensPaid, listMisplaced, listUnregistered, lockTokensPaid } from './agent-token-store.ts';
import { inPages } from './in-pages.ts';
import { registrationUrl } from './registration-file.ts';

export interface RegistrationContext
  extends Store,
    NodeIdentity,
    RegistryIndex,
    Pick<NodeKeys, 'registrar'>,
    PaymentConditions {}

/** Plans the on-chain registration of an agent in the transaction that verifies it. Idempotent. */
export async function registerVerified(ctx: RegistrationContext, tx: Tx, agent: Agent, now: Date): Promise<void> {
  if (isVerified(agent) && agent.tokenId === null && agent.status !== 'removed') await queueEntry(ctx, tx, agent, now);
}

/**
 * Plans nothing when the account is over its daily number of tokens, removed agents included; `registerMissing` retries later. A retired
 * token is never reused, because its reputation is that of its agent.
 */
async function queueEntry(
  ctx: RegistrationContext,
  tx: Tx,
  { id, accountId }: Pick<Agent, 'id' | 'accountId'>,
  now: Date,
): Promise<void> {
  if (!ctx.registrar) return;
  const hasRoom = async () =>
    (await countTokensPaid(tx, accountId, new Date(now.getTime() - DAY_MS))) < ctx.paymentLimits.tokensPerDay;
  // Asked first without the lock: every probe of an agent beyond the limit comes here, and they must not wait for each other.
  if (!(await hasRoom())) return;
  await lockTokensPaid(tx, accountId);
  if (!(await hasRoom())) return;
  const call = registerCall(ctx, registrationUrl(ctx.baseUrl, id));
  await queueWrite(ctx, tx, { kind: 'register', subjectId: id, ...call }, now);
}

/** Pause before a failed registration is retried. */
const AGAIN_AFTER_MS = DAY_MS;

/** Plans the registration of agents that were verified while the node could not write: without a registrar, or before this version. */
export async function registerMissing(ctx: RegistrationContext): Promise<void> {
  if (!ctx.registrar) return;
  const failedAfter = new Date(ctx.clock.now().getTime() - AGAIN_AFTER_MS);
  await inPages(
    (page) => listUnregistered(ctx.db, { chainId: ctx.registry.chainId, failedAfter, ...page }),
    async (agents) => {
      const now = ctx.clock.now();
      await ctx.db.transaction(async (tx) => {
        for (const agent of agents) await queueEntry(ctx, tx, agent, now);
      });
    },
  );
}

/** Points the registry entries that this node holds to its present address after a change. */
export async function moveEntries(ctx: RegistrationContext): Promise<void> {
  if (!ctx.registrar) return;
  const [before, behind] = registrationUrl(ctx.baseUrl, '\n').split('\n') as [string, string];
  await inPages(
    (page) => listMisplaced(ctx.db, { chainId: ctx.registry.chainId, before, behind, ...page }),
    async (agents) => {
      const now = ctx.clock.now();
      await ctx.db.transaction(async (tx) => {
        for (const { id, tokenId } of agents) {
          const call = uriCall(ctx, tokenId, registrationUrl(ctx.baseUrl, id));
          await queueWrite(ctx, tx, { kind: 'uri', subjectId: id, ...call }, now);
        }
      });
    },
  );
}
