import { randomBytes } from 'node:crypto';
import type { AgentRegistration } from '@agent-network/contracts/agents/agents';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { parseUsdc } from '@agent-network/contracts/money';
import { hashSecret } from '../../accounts/api-key.ts';
import { type Once, unkeyed } from '../../accounts/idempotency/once.ts';
import { type KeySettings, requireRoomForAgent } from '../../accounts/limits/plan-caps.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { invalid } from '../../lib/app-error.ts';
import type { Outbound } from '../../lib/net/guarded-fetch.ts';
import { openAgentTreasury } from '../../payments/ledger/treasury.ts';
import { type HomeKeyContext, homeKeyOf } from '../../registry/write/announce-node.ts';
import { newAgentId } from '../agent-id.ts';
import type { AgentServices } from '../agent-services.ts';
import { takeSlug } from '../agent-slug-store.ts';
import { countAgentsOf, insertAgent, type NewAgent } from '../agent-store.ts';
import { newUpstream } from '../health/upstream.ts';
import { startReputation } from '../reputation/recompute-reputations.ts';
import { newcomer } from '../reputation/reputation-parts.ts';
import { declareTypes } from './declare-types.ts';
import { requirePrices } from './require-prices.ts';
import { requireCapabilities, requireTypes } from './require-types.ts';

export type RegisterContext = HomeKeyContext & Pick<NodeKeys, 'secrets'> & Outbound & AgentServices & KeySettings;

/** Throws VALIDATION_ERROR for an endpoint that this node refuses to call. */
export function requireCallable(ctx: Outbound, endpoint: string): void {
  const checked = ctx.guardedFetch.checkUrl(endpoint);
  if (!checked.ok) throw invalid('endpoint', checked.reason);
}

/**
 * Registers an agent of an account. It is pending until its endpoint is proven; the first attempt runs at once. Throws CONFLICT when the
 * plan's limit is reached.
 */
export async function registerAgent(
  ctx: RegisterContext,
  owner: { accountId: string; address: string },
  input: AgentRegistration,
  once: Once = unkeyed,
): Promise<DataOf<Api['registerAgent']>> {
  requirePrices(parseUsdc(input.rates.perRequest), input.metadata);
  requireCallable(ctx, input.endpoint);
  requireCapabilities(input.types ?? null, input.capabilities);
  if (input.types) await requireTypes(input.types, owner.accountId);
  const identityToken = `0x${randomBytes(32).toString('hex')}`;
  const now = ctx.clock.now();
  const agent: Omit<NewAgent, 'typesId'> = {
    ...newAgentId(await homeKeyOf(ctx), now),
    accountId: owner.accountId,
    owner: owner.address,
    name: input.name,
    description: input.description,
    capabilities: input.capabilities,
    perRequestMicro: parseUsdc(input.rates.perRequest),
    perHourMicro: parseUsdc(input.rates.perHour ?? input.rates.perRequest),
    tiers: input.rates.tiers ?? {},
    ...newUpstream(ctx.secrets, input.endpoint, input),
    metadata: input.metadata,
    exampleQuestions: input.exampleQuestions,
    reputation: newcomer.score.score,
    tokenHash: hashSecret(identityToken),
    tokenSealed: ctx.secrets.seal(identityToken),
  };
  const registered = {
    id: agent.id,
    name: agent.name,
    identityToken,
    registeredAt: now.toISOString(),
    status: 'pending_verification',
  } as const;
  await ctx.db.transaction(async (tx) => {
    await requireRoomForAgent(ctx, tx, owner.accountId, (most) => countAgentsOf(tx, owner.accountId, { most }));
    const types = { agentId: agent.id, replaces: null, types: input.types ?? null };
    await insertAgent(tx, { ...agent, typesId: await declareTypes(tx, types, now) }, now);
    await takeSlug(tx, agent);
    await openAgentTreasury(tx, agent, now);
    await startReputation(tx, agent.id, now);
    await once.keep(tx, registered);
  });
  ctx.agentChecks.requestRun();
  return registered;
}
