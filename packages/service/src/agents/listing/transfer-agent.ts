import { randomBytes } from 'node:crypto';
import { hashSecret } from '../../accounts/api-key.ts';
import { accountsOfWallets } from '../../accounts/link-wallet.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { giveTreasury } from '../../payments/ledger/treasury.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import { type Agent, nextAgentStatus } from '../agent.ts';
import { changeAgent } from '../change-agent.ts';

/** True when the agent can be transferred to this account: the chain names a wallet of the account as owner, its own or a linked one. */
export async function isHeirOf(
  tx: Tx,
  caller: { accountId: string; address: string },
  { frozenAt, owner }: Pick<Agent, 'frozenAt' | 'owner'>,
): Promise<boolean> {
  if (frozenAt === null) return false;
  return owner === caller.address || (await accountsOfWallets(tx, [owner])).get(owner) === caller.accountId;
}

/**
 * Replaces an agent's identityToken, in the transaction that holds its lock and consumes the wallet proof of its owner; returns the new one,
 * with which the endpoint has to be proven.
 */
export async function renewIdentityToken(
  ctx: Store & Pick<NodeKeys, 'secrets'>,
  tx: Tx,
  agent: Agent,
): Promise<string> {
  const now = ctx.clock.now();
  const { identityToken, change } = newToken(ctx, agent, now);
  await changeAgent(tx, agent, change, now);
  return identityToken;
}

/**
 * Transfers an agent with its treasury to the account of its new owner, in the transaction that holds its lock and consumes the wallet
 * proof. The former owner knows the identityToken, which can spend the agent's money: a new one is returned, as by `renewIdentityToken`.
 */
export async function transferAgent(
  ctx: Store & Pick<NodeKeys, 'secrets'>,
  tx: Tx,
  caller: { accountId: string },
  agent: Agent,
): Promise<string> {
  const now = ctx.clock.now();
  const { identityToken, change } = newToken(ctx, agent, now);
  const transferred = {
    ...change,
    accountId: caller.accountId,
    ownedSince: caller.accountId === agent.accountId ? agent.ownedSince : now,
    frozenAt: null,
    // The credentials of the former owner.
    upstream: { ...agent.upstream, headers: [] },
    upstreamHeadersSealed: null,
  };
  await changeAgent(tx, agent, transferred, now);
  await giveTreasury(tx, agent.id, caller.accountId);
  return identityToken;
}

function newToken({ secrets }: Pick<NodeKeys, 'secrets'>, { status }: Agent, now: Date) {
  const identityToken = `0x${randomBytes(32).toString('hex')}`;
  const change = {
    tokenHash: hashSecret(identityToken),
    tokenSealed: secrets.seal(identityToken),
    endpointProvenAt: null,
    status: nextAgentStatus(status, 'endpoint_changed'),
    checksDone: 0,
    // Said with the token that ends.
    isAccepting: true,
    nextCheckAt: now,
    updatedAt: now,
  };
  return { identityToken, change };
}
