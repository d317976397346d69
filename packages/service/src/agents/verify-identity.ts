import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { VerifyRequest } from '@agent-network/contracts/identity';
import type { HasAuthenticator } from '../access/authenticate.ts';
import type { AccountCaller } from '../access/caller.ts';
import { type Once, unkeyed } from '../access/once.ts';
import { proveAccount } from '../access/prove-account.ts';
import type { Tx } from '../db/sql.ts';
import { emit } from '../events/outbox.ts';
import { giveChallenge, judgeChallenge, useChallenge } from '../identity/prove-wallet.ts';
import type { HasWalletSignatures } from '../identity/wallet-signature-client.ts';
import { notFound } from '../lib/app-error.ts';
import type { HasBaseUrl } from '../payments/deposit.ts';
import type { HasChain } from '../payments/x402/chain-info.ts';
import { isVerified } from './agent.ts';
import { agentEventsOf } from './agent-events.ts';
import { findAgentRow, lockAgentsOf } from './agent-store.ts';
import type { CheckContext } from './check-agents.ts';
import { writeListing } from './listing-store.ts';
import { lockOwnAgent } from './update-agent.ts';
import { verifyAgent } from './verify-agent.ts';

type VerifyContext = CheckContext & HasChain & HasBaseUrl & HasWalletSignatures & HasAuthenticator;
type Verified = DataOf<Api['verifyIdentity']>;

/** Proves the endpoint of an agent of the caller's now, or its owner's wallet in two steps: a challenge, and the challenge signed. */
export async function verifyIdentity(
  ctx: VerifyContext,
  caller: AccountCaller,
  body: VerifyRequest,
  once: Once = unkeyed,
): Promise<Verified> {
  if ('challengeId' in body) return proveOwner(ctx, caller, body, once);
  if (body.proof === 'endpoint') return verifyAgent(ctx, caller, body.agentId);
  const { owner } = await ctx.db.transaction((tx) => lockOwnAgent(tx, caller.accountId, body.agentId));
  const asked = { accountId: caller.accountId, agentId: body.agentId, address: owner };
  return giveChallenge(ctx, asked, once.keep);
}

/** Takes a signed challenge: the account has proven its wallet, and with it the owner of every agent it registered. */
async function proveOwner(
  ctx: VerifyContext,
  caller: AccountCaller,
  signed: { challengeId: string; signature: string },
  once: Once,
): Promise<Verified> {
  const { agentId, method } = await judgeChallenge(ctx, caller.accountId, signed);
  if (agentId === null) throw notFound('challenge for an agent');
  const now = ctx.clock.now();
  const verifiedAt = now.toISOString();
  const verified = await ctx.db.transaction(async (tx) => {
    await useChallenge(tx, signed.challengeId, now);
    await recordProvenOwner(tx, caller.accountId, ctx.nodeLabel, now);
    const agent = await findAgentRow(tx, agentId);
    if (!agent) throw notFound('agent');
    const { owner } = agent;
    const proven = { agentId, proof: 'wallet', verified: isVerified(agent), owner, method, verifiedAt } as const;
    return once.keep(tx, proven);
  });
  ctx.authenticator.forget();
  return verified;
}

/** Notes in the caller's transaction that an account has proven its wallet, and shows it on all of its agents. */
export async function recordProvenOwner(tx: Tx, accountId: string, location: string, now: Date): Promise<void> {
  const agents = await lockAgentsOf(tx, accountId);
  await proveAccount(tx, accountId, now);
  for (const agent of agents) await writeListing(tx, agent);
  const proven = { isWalletProven: true, walletProvenAt: now };
  await emit(
    tx,
    agents.flatMap((agent) => agentEventsOf(agent, { ...agent, ...proven }, location)),
    now,
  );
}
