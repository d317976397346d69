import { scopes } from '@agent-network/contracts/access/scopes';
import { parseUsdc } from '@agent-network/contracts/money';
import { issueApiKey } from '../../../src/accounts/keys/manage-keys.ts';
import { openAccount } from '../../../src/accounts/open-account.ts';
import type { TestWallet } from '../../support/harness.ts';
import type { ModelWorld } from './model-world.ts';
import type { Who } from './money-model.ts';

export interface RunClient {
  readonly key: string;
  readonly treasuryId: string;
  readonly wallet: TestWallet;
}

/** One run: two new clients in a world that others used before. */
export interface ModelRun {
  readonly world: ModelWorld;
  readonly clients: readonly [RunClient, RunClient];
  /** The requests of the run, by the names that it knows them by. */
  readonly requestIds: Map<string, string>;
  /** Client of each request. */
  readonly whose: Map<string, Who>;
  /** Amounts before the run. */
  readonly before: { readonly earnedMicro: bigint; readonly nodeMicro: bigint };
  /** A name that nothing in the run has yet. */
  newName(): string;
}

export async function startRun(world: ModelWorld): Promise<ModelRun> {
  const [first, second, earnedMicro, nodeMicro] = await Promise.all([
    newClient(world),
    newClient(world),
    earnedBy(world),
    world.usdc.balanceOf(nodeWallet(world)),
  ]);
  for (const agent of world.agents) agent.takeCalled();
  let names = 0;
  return {
    world,
    clients: [first, second],
    requestIds: new Map(),
    whose: new Map(),
    before: { earnedMicro, nodeMicro },
    newName: () => `r${++names}`,
  };
}

/** An account with a wallet that the run holds the key of, so that the wallet's plain transfers are the account's. */
async function newClient(world: ModelWorld): Promise<RunClient> {
  const wallet = world.takeWallet();
  const { ctx } = world.node.current();
  const { accountId } = await openAccount(ctx, { address: wallet.address, plan: 'enterprise', isWalletProven: true });
  const { apiKey } = await issueApiKey(ctx, { accountId, name: 'model', scopes, expiresAt: null });
  const { body } = await world.node.request('POST', '/payments/treasury', { key: apiKey, body: {} });
  return { key: apiKey, treasuryId: body.data.treasuryId, wallet };
}

/** Earnings of the world's agents in all runs. */
export async function earnedBy(world: ModelWorld): Promise<bigint> {
  const { body } = await world.node.look('/payments/balance', world.owner.key);
  return parseUsdc(body.data.available);
}

export const nodeWallet = (world: ModelWorld): string => world.node.current().ctx.wallet.address;
