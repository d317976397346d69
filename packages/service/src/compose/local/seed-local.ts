import { join } from 'node:path';
import { identityRegistryByChain, payableChain, symbolOf, usdcByChain } from '@agent-network/chain/addresses';
import type { Plan } from '@agent-network/contracts/access/access';
import { defaultScopes, type Scope, scopes } from '@agent-network/contracts/access/scopes';
import { getAddress } from 'viem';
import { issueApiKey, isValidApiKey } from '../../accounts/keys/manage-keys.ts';
import { openAccount } from '../../accounts/open-account.ts';
import type { Config } from '../../config/config.ts';
import type { NetworkSettings } from '../../config/networks.ts';
import type { StopStep } from '../../lib/process/graceful-stop.ts';
import type { StartProgress } from '../../lib/telemetry/start-progress.ts';
import type { NodeContext } from '../context.ts';
import { startSteps } from '../start-steps.ts';
import { startLocalAgents } from './local-agents.ts';
import { type LocalKeys, type LocalWallet, saveLocalKeys, writeSecretFile } from './local-keys.ts';
import { fundOnJoinedChain, type LocalPlan } from './local-parts.ts';
import type { LocalAgent } from './prepare-agent.ts';

/** Content of `DATA_DIR/local.json` (docs/design.md). */
export interface LocalJson {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly apiKeys: { readonly free: string; readonly pro: string };
  readonly account: LocalWallet;
  readonly wallets: readonly LocalWallet[];
  readonly chain: {
    readonly rpcUrl: string;
    readonly chainId: number;
    readonly usdc: `0x${string}`;
    readonly identityRegistry: `0x${string}`;
  };
  /** Each chain that the node is paid on, `chain` first; `wallet`: the node's address there. */
  readonly chains: readonly {
    readonly id: number;
    readonly rpcUrl: string;
    readonly usdc: string;
    readonly tokens: readonly { readonly symbol: string; readonly address: string }[];
    readonly wallet: string;
  }[];
  readonly database: string;
  readonly agents: readonly LocalAgent[];
}

/** Creates a local node's accounts, keys, test money and example agents, and writes `local.json`. Idempotent. */
export async function seedLocal(
  ctx: NodeContext,
  config: Config,
  plan: LocalPlan,
  { stops, progress }: { readonly stops: StopStep[]; readonly progress: StartProgress },
): Promise<LocalJson> {
  const { keys } = plan;
  const owner = await progress.step(startSteps.accounts, async () => {
    await fundOnJoinedChain(config, plan);
    const first = await seedAccount(ctx, keys, keys.account, 'enterprise', scopes);
    await seedAccount(ctx, keys, keys.free, 'free', defaultScopes);
    await seedAccount(ctx, keys, keys.pro, 'pro', defaultScopes);
    await saveLocalKeys(config.dataDir, keys);
    return first;
  });
  // The agents are on loopback, which an exposed node does not call.
  const agents = config.allowPrivateEndpoints
    ? await progress.step(startSteps.agents, () => startLocalAgents(ctx, keys, owner, stops))
    : [];
  await saveLocalKeys(config.dataDir, keys);
  const local: LocalJson = {
    baseUrl: ctx.baseUrl,
    apiKey: keys.apiKeys.enterprise ?? '',
    apiKeys: { free: keys.apiKeys.free ?? '', pro: keys.apiKeys.pro ?? '' },
    account: keys.account,
    wallets: keys.wallets,
    chain: {
      rpcUrl: plan.chainRpcUrl(),
      chainId: config.chainId,
      usdc: usdcByChain[config.chainId],
      identityRegistry: identityRegistryByChain[config.chainId],
    },
    chains: chainsOf(ctx, config, plan),
    database: plan.databaseUrl,
    agents,
  };
  await writeSecretFile(join(config.dataDir, 'local.json'), local);
  return local;
}

function chainsOf(ctx: NodeContext, { chainId }: Config, plan: LocalPlan): LocalJson['chains'] {
  const networks: Pick<NetworkSettings, 'chainId' | 'rpcUrl' | 'token'>[] = [
    { chainId, rpcUrl: plan.chainRpcUrl() },
    ...plan.furtherNetworks(),
  ];
  return [...Map.groupBy(networks, (each) => each.chainId)].map(([id, ofChain]) => {
    const usdc = payableChain(id)?.usdc ?? '';
    const tokens = ofChain.map(({ token = usdc }) => ({ symbol: symbolOf(id, token), address: getAddress(token) }));
    return { id, rpcUrl: ofChain[0]?.rpcUrl ?? '', usdc, tokens, wallet: getAddress(ctx.chain.wallet) };
  });
}

async function seedAccount(
  ctx: NodeContext,
  keys: LocalKeys,
  wallet: LocalWallet,
  plan: Plan,
  keyScopes: readonly Scope[],
): Promise<{ accountId: string; address: string }> {
  const account = await openAccount(ctx, { address: wallet.address, plan, isWalletProven: true });
  const known = keys.apiKeys[plan];
  // Asking with the key itself would count as its first use by a program.
  const isGood = known !== undefined && (await isValidApiKey(ctx, known));
  if (!isGood) {
    const made = await issueApiKey(ctx, {
      accountId: account.accountId,
      name: `local ${plan}`,
      scopes: keyScopes,
      expiresAt: null,
    });
    keys.apiKeys[plan] = made.apiKey;
  }
  return account;
}
