import type { TokenLink } from '@agent-network/contracts/agents/identity';
import type { AccountCaller } from '../../accounts/caller.ts';
import { whyStalled } from '../../chain/blocks/gates.ts';
import { AppError, invalid } from '../../lib/app-error.ts';
import { until } from '../../lib/concurrency/until.ts';
import { dropWrite, latestWrite, queueWrite } from '../../registry/write/queue-write.ts';
import { retireCall, uriCall } from '../../registry/write/registry-calls.ts';
import type { Tx } from '../../store/sql.ts';
import type { Agent } from '../agent.ts';
import { changeAgent, lockOwnAgent } from '../change-agent.ts';
import { isTaken } from './agent-token-store.ts';
import { READ_WITHIN_MS, requireProvenOwner } from './claim-token.ts';
import type { RegistrationContext } from './register-verified.ts';
import { registrationUrl } from './registration-file.ts';

type LinkContext = RegistrationContext & { readonly registryWrites: { requestRun(): void } };

const conflict = (message: string) => new AppError('CONFLICT', message);

/**
 * Links a token that the owner's proven wallet holds to an agent, in place of an unclaimed one that this node registered. Idempotent.
 * Throws CONFLICT when the wallet is not proven or does not hold the token, the index has not read yet that it does, the owner has another
 * token for the agent, or another agent has this token; UNAVAILABLE when the chain cannot be read.
 */
export async function linkToken(
  ctx: LinkContext,
  caller: AccountCaller,
  agentId: string,
  tokenId: string,
): Promise<TokenLink> {
  const agent = await ctx.db.transaction((tx) => lockOwnAgent(tx, caller.accountId, agentId));
  if (!isLinked(agent, tokenId)) {
    requireProvenOwner(agent);
    await requireHolder(ctx, agent.owner, tokenId);
    await ctx.db.transaction((tx) =>
      link(ctx, tx, { accountId: caller.accountId, agentId, owner: agent.owner, tokenId }),
    );
    ctx.registryWrites.requestRun();
  }
  const agentURI = registrationUrl(ctx.baseUrl, agentId);
  const { chainId, address } = ctx.registry;
  const { target, data } = uriCall(ctx, tokenId, agentURI);
  const pointsThere = (await askChain(() => ctx.tokenClient.uriOf(tokenId))) === agentURI;
  const { owner } = agent;
  return { agentId, chainId, registry: address, tokenId, owner, agentURI, pointsThere, call: { to: target, data } };
}

/** Throws CONFLICT when the agent's owner has claimed or linked another token for it. */
function isLinked(agent: Agent, tokenId: string): boolean {
  if (agent.tokenClaimedAt === null) return false;
  if (agent.tokenId !== tokenId)
    throw conflict(`The agent already has the token ${agent.tokenId}, which its owner holds.`);
  return true;
}

async function askChain<T>(ask: () => Promise<T>): Promise<T> {
  return ask().catch((cause) => {
    throw new AppError('UNAVAILABLE', 'The chain cannot be reached; the token was not checked.', {}, { cause });
  });
}

async function requireHolder(ctx: LinkContext, owner: string, tokenId: string): Promise<void> {
  const holder = await askChain(() => ctx.tokenClient.ownerOf(tokenId));
  if (holder === null) throw invalid('tokenId', 'is not a token of the registry');
  if (holder !== owner) throw conflict(`The token belongs to ${holder}, not to the owner of the agent.`);
  // By an index that does not name this holder yet, and an RPC node that is behind, the agent would be the former holder's.
  const hasRead = async () => ((await ctx.registryTokens.at(BigInt(tokenId)))?.token.owner === owner ? true : null);
  if (await until(hasRead, { timeoutMs: READ_WITHIN_MS, firstMs: 20, maxMs: 200 })) return;
  const stalled = await whyStalled(ctx, ctx.registry);
  const why = stalled === null ? '' : ` (${stalled})`;
  throw conflict(
    (await ctx.registryTokens.at(BigInt(tokenId)))
      ? `This node has not read yet that the owner holds this token${why}; try again in some seconds.`
      : 'This node has not read this token yet; try again later. It reads the registry from block REGISTRY_START_BLOCK on: a token that was minted before, and not transferred since, is not known to it.',
  );
}

async function link(
  ctx: LinkContext,
  tx: Tx,
  { accountId, agentId, owner, tokenId }: { accountId: string; agentId: string; owner: string; tokenId: string },
): Promise<void> {
  const now = ctx.clock.now();
  const agent = await lockOwnAgent(tx, accountId, agentId);
  if (agent.owner !== owner || isLinked(agent, tokenId)) return;
  if (await isTaken(tx, tokenId, agentId)) throw conflict('The token belongs to another agent.');
  const claim = await latestWrite(ctx, ['transfer'], agentId, tx);
  if (claim?.state === 'due' || claim?.state === 'sent')
    throw conflict('The token that the node registered for this agent is being transferred to its owner.');
  await dropWrite(ctx, tx, { kind: 'register', subjectId: agentId, failure: 'the owner linked another token', now });
  if (agent.tokenId !== null && ctx.registrar)
    await queueWrite(ctx, tx, { kind: 'retire', subjectId: agentId, ...retireCall(ctx, agent.tokenId) }, now);
  await changeAgent(tx, agent, { tokenId, tokenClaimedAt: now }, now);
}
