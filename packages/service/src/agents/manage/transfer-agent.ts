import { randomBytes } from 'node:crypto';
import { hashSecret } from '../../access/caller/api-key.ts';
import type { Tx } from '../../db/sql.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { HasSecrets } from '../../lib/secrets.ts';
import { giveTreasury } from '../../payments/ledger/freeze-treasury.ts';
import { type Agent, nextAgentStatus } from '../agent.ts';
import { changeAgent } from '../change-agent.ts';
import { writeListing } from '../search/listing-store.ts';

/** Whether an agent waits for this account to take it over: the chain says that it is its wallet's. */
export const isHeirOf = (caller: { address: string }, agent: Pick<Agent, 'frozenAt' | 'owner'>): boolean =>
  agent.frozenAt !== null && agent.owner === caller.address;

/**
 * Gives an agent, with its treasury, to the account of its new owner, in the transaction that has locked it and takes the proof of the
 * wallet. Whoever had it before knows its identityToken, which could spend its money: it gets a new one, which is returned, and its
 * endpoint has to be proven with that.
 */
export async function transferAgent(
  ctx: HasClock & HasSecrets,
  tx: Tx,
  caller: { accountId: string },
  agent: Agent,
): Promise<string> {
  const now = ctx.clock.now();
  const identityToken = `0x${randomBytes(32).toString('hex')}`;
  const change = {
    accountId: caller.accountId,
    frozenAt: null,
    tokenHash: hashSecret(identityToken),
    tokenSealed: ctx.secrets.seal(identityToken),
    endpointProvenAt: null,
    status: nextAgentStatus(agent.status, 'endpoint_changed'),
    checksDone: 0,
    nextCheckAt: now,
    updatedAt: now,
  };
  await changeAgent(tx, agent, change, now);
  await giveTreasury(tx, agent.id, caller.accountId);
  await writeListing(tx, agent);
  return identityToken;
}
