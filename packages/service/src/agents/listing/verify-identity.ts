import type { VerifyRequest } from '@agent-network/contracts/agents/identity';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { type OwnerProofs, proveAccount } from '../../accounts/admit-wallet.ts';
import type { AccountCaller } from '../../accounts/caller.ts';
import { type Once, unkeyed } from '../../accounts/idempotency/once.ts';
import {
  type ChallengeContext,
  giveChallenge,
  judgeChallenge,
  useChallenge,
} from '../../accounts/proofs/prove-wallet.ts';
import { emit } from '../../events/outbox/outbox.ts';
import { AppError, notFound } from '../../lib/app-error.ts';
import { claimAtSignIn } from '../../payments/deposits/suspense.ts';
import type { Tx } from '../../store/sql.ts';
import { type Agent, changesFile, isVerified } from '../agent.ts';
import { recordChange } from '../agent-change-store.ts';
import { lockAgentRow, lockAgentsOf } from '../agent-lock-store.ts';
import type { AgentServices } from '../agent-services.ts';
import { findAgentRow } from '../agent-store.ts';
import { agentEventsOf, lockOwnAgent } from '../change-agent.ts';
import type { CheckContext } from '../health/check-agents.ts';
import { verifyAgent } from '../health/verify-agent.ts';
import { type RegistrationContext, registerVerified } from '../onchain/register-verified.ts';
import { requireHolder } from '../onchain/token-holders.ts';
import { isHeirOf, renewIdentityToken, transferAgent } from './transfer-agent.ts';

type VerifyContext = CheckContext & ChallengeContext & AgentServices;
type Verified = DataOf<Api['verifyIdentity']>;

/** Proves an agent's endpoint now, or its owner's wallet in two steps: a challenge, then the signed challenge. */
export async function verifyIdentity(
  ctx: VerifyContext,
  caller: AccountCaller,
  body: VerifyRequest,
  once: Once = unkeyed,
): Promise<Verified> {
  if ('challengeId' in body) return proveOwner(ctx, caller, body, once);
  if (body.proof === 'endpoint') return verifyAgent(ctx, caller, body.agentId);
  const { owner } = await ctx.db.transaction((tx) => lockProvable(tx, caller, body.agentId));
  const asked = { accountId: caller.accountId, agentId: body.agentId, address: owner };
  const given = giveChallenge(ctx, asked);
  return ctx.db.transaction((tx) => once.keep(tx, given));
}

/** Locks an agent that the caller may prove the owner's wallet of: its own, or one with a token that its wallet holds by now. */
async function lockProvable(tx: Tx, caller: AccountCaller, agentId: string): Promise<Agent> {
  const agent = await lockAgentRow(tx, agentId);
  return agent && (await isHeirOf(tx, caller, agent)) ? agent : lockOwnAgent(tx, caller.accountId, agentId);
}

/** Verifies a signed challenge: it proves the account's wallet, and with it the owner of every agent that the account registered. */
async function proveOwner(
  ctx: VerifyContext,
  caller: AccountCaller,
  { newIdentityToken, ...signed }: Extract<VerifyRequest, { challengeId: string }>,
  once: Once,
): Promise<Verified> {
  const proof = await judgeChallenge(ctx, caller.accountId, signed, { purpose: 'agent' });
  const { agentId, method, address } = proof;
  if (agentId === null) throw notFound('challenge for an agent');
  const asked = await findAgentRow(ctx.db, agentId);
  // What follows gives the agent, or a key that spends its money: the contract has the last word on whose it is, not the index.
  if (asked && (asked.frozenAt !== null || newIdentityToken === true)) await requireHolder(ctx, asked, address);
  const now = ctx.clock.now();
  const verifiedAt = now.toISOString();
  const verified = await ctx.db.transaction(async (tx) => {
    await useChallenge(tx, proof, now);
    const before = await lockAgentRow(tx, agentId);
    let identityToken: string | null = null;
    if (before?.tokenId !== asked?.tokenId)
      throw new AppError('CONFLICT', "The agent's token has just changed. Repeat the call.");
    if (before?.owner === address && (await isHeirOf(tx, caller, before)))
      identityToken = await transferAgent(ctx, tx, caller, before);
    else if (before && newIdentityToken === true && isOwnersAgent(before, caller, address))
      identityToken = await renewIdentityToken(ctx, tx, before);
    // A linked wallet proves itself only.
    if (address === caller.address) await recordProvenOwner(ctx, tx, caller.accountId, now);
    const agent = await findAgentRow(tx, agentId);
    if (!agent) throw notFound('agent');
    const { owner } = agent;
    const proven = { agentId, proof: 'wallet', verified: isVerified(agent), owner, method, verifiedAt } as const;
    return once.keep(tx, { ...proven, identityToken });
  });
  ctx.agentChecks.requestRun();
  return verified;
}

/** True when an agent of the caller's still belongs to the wallet that signed; a frozen one belongs to another. */
const isOwnersAgent = ({ accountId, owner, frozenAt }: Agent, caller: AccountCaller, signer: string): boolean =>
  accountId === caller.accountId && owner === signer && frozenAt === null;

/** Records in the caller's transaction that an account has proven its wallet, on the account and all of its agents. */
async function recordProvenOwner(
  ctx: RegistrationContext & { readonly nodeLabel: string },
  tx: Tx,
  accountId: string,
  now: Date,
): Promise<void> {
  const agents = await lockAgentsOf(tx, accountId);
  await proveAccount(tx, accountId, now);
  for (const agent of agents) {
    const after = agent.frozenAt === null ? { ...agent, isWalletProven: true, walletProvenAt: now } : agent;
    if (changesFile(agent, after)) await recordChange(tx, agent.id, now);
    await registerVerified(ctx, tx, after, now);
    await emit(tx, agentEventsOf(agent, after, ctx.nodeLabel), now);
  }
}

/** For a wallet that is proven by signing in. */
export const createOwnerProofs = (ctx: RegistrationContext & { readonly nodeLabel: string }): OwnerProofs => ({
  record: (tx, accountId, now) => recordProvenOwner(ctx, tx, accountId, now),
  credit: claimAtSignIn,
});
