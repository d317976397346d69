import type { TokenClaim } from '@agent-network/contracts/agents/identity';
import type { AccountCaller } from '../../accounts/caller.ts';
import { AppError } from '../../lib/app-error.ts';
import { until } from '../../lib/concurrency/until.ts';
import { latestWrite, queueWrite } from '../../registry/write/queue-write.ts';
import { transferCall } from '../../registry/write/registry-calls.ts';
import type { Agent } from '../agent.ts';
import { lockOwnAgent } from '../change-agent.ts';
import type { RegistrationContext } from './register-verified.ts';

type ClaimContext = RegistrationContext & { readonly registryWrites: { requestRun(): void } };

/** Maximum waits of a request: for the index to read a token that was just minted or bought, and for the transfer to be mined. */
export const READ_WITHIN_MS = 2000;
const CLAIMED_WITHIN_MS = 3000;

/**
 * Transfers the token that this node registered for an agent to its owner's wallet; a repeat returns the progress. Throws CONFLICT while
 * the wallet is not proven, no token exists yet, or a reorg could still change its number.
 */
export async function claimToken(ctx: ClaimContext, caller: AccountCaller, agentId: string): Promise<TokenClaim> {
  const agent = await ctx.db.transaction((tx) => lockOwnAgent(tx, caller.accountId, agentId));
  if (agent.tokenClaimedAt !== null) return stateOf(ctx, agent);
  requireProvenOwner(agent);
  const { registrar } = ctx;
  if (!registrar)
    throw new AppError(
      'CONFLICT',
      'This node does not write to the registry. POST /identity/{id}/link names a token that the owner has already.',
    );
  const tokenId = await requireLasting(ctx, agent);
  await ctx.db.transaction(async (tx) => {
    const now = await lockOwnAgent(tx, caller.accountId, agentId);
    if (now.tokenClaimedAt !== null || now.tokenId !== tokenId) return;
    const call = transferCall(ctx, { tokenId, from: registrar.address, to: now.owner });
    await queueWrite(ctx, tx, { kind: 'transfer', subjectId: agentId, ...call }, ctx.clock.now());
  });
  ctx.registryWrites.requestRun();
  const isEnded = async () => {
    const state = (await latestWrite(ctx, ['transfer'], agentId))?.state;
    return state === 'done' || state === 'failed' ? true : null;
  };
  await until(isEnded, { timeoutMs: CLAIMED_WITHIN_MS, firstMs: 20, maxMs: 200 });
  return stateOf(ctx, await ctx.db.transaction((tx) => lockOwnAgent(tx, caller.accountId, agentId)));
}

/** Throws CONFLICT unless the owner's wallet is proven. */
export function requireProvenOwner({ isWalletProven, owner }: Agent): void {
  if (!isWalletProven)
    throw new AppError(
      'CONFLICT',
      `The wallet ${owner} is not proven yet: POST /identity/verify with proof "wallet" gives a text to sign.`,
    );
}

/** The agent's token, once it is safe from reorgs: before that its number could become another agent's. */
async function requireLasting(ctx: ClaimContext, { tokenId, owner }: Agent): Promise<string> {
  if (tokenId === null)
    throw new AppError(
      'CONFLICT',
      'The agent has no token yet. It gets one once it is verified; GET /identity/{id} tells.',
    );
  const isLasting = async () => {
    const known = await ctx.registryTokens.at(BigInt(tokenId));
    // A concurrent claim may have transferred it.
    const isRight = known?.token.owner === ctx.registrar?.address || known?.token.owner === owner;
    return known?.isSafe && isRight ? true : null;
  };
  if (await until(isLasting, { timeoutMs: READ_WITHIN_MS, firstMs: 20, maxMs: 200 })) return tokenId;
  const waits = (await ctx.registryTokens.at(BigInt(tokenId)))?.waits ?? 'this node has not read it yet';
  throw new AppError(
    'CONFLICT',
    `The token is too new: the chain could still change its number (${waits}). Try again in some minutes.`,
  );
}

async function stateOf(ctx: ClaimContext, agent: Agent): Promise<TokenClaim> {
  const write = await latestWrite(ctx, ['transfer'], agent.id);
  const isOfToken = write?.tokenId === agent.tokenId && write?.state !== 'failed';
  const onItsWay = isOfToken && write?.state === 'sent' ? 'sent' : 'due';
  return {
    agentId: agent.id,
    chainId: ctx.registry.chainId,
    registry: ctx.registry.address,
    tokenId: agent.tokenId ?? '',
    owner: agent.owner,
    state: agent.tokenClaimedAt === null ? onItsWay : 'claimed',
    transactionHash: isOfToken ? (write?.transactionHash ?? null) : null,
  };
}
