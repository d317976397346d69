import { setTimeout as delay } from 'node:timers/promises';
import { payableChain } from '@agent-network/chain/addresses';
import { type ChainAccess, chainInfoOf, networkName, openChain } from '../chain/chain-access.ts';
import { assetIdOf, assetNameOf } from '../chain/chain-info.ts';
import { createGasWatches, type GasWatch } from '../chain/gas-watch.ts';
import type { ClosedNetwork } from '../chain/networks.ts';
import type { NetworkSettings } from '../config/networks.ts';
import type { ChannelSettings } from '../config/payments.ts';
import { endsWithin } from '../lib/concurrency/within.ts';
import { metricsOn } from '../lib/metrics.ts';
import { type AssetRow, listAssets } from '../payments/ledger/asset-store.ts';
import { prepareChain } from '../payments/reconcile/prepare-chain.ts';
import { catchUp } from '../payments/reconcile/read-payouts.ts';
import { createKeyTurns, type KeyTurns } from '../payments/settlement/settler.ts';
import type { Repeating } from '../store/queue/schedule.ts';
import type { NodeContext } from './context.ts';
import { startRecurringOn } from './jobs.ts';
import { localRepair } from './local/local-parts.ts';
import {
  createChainReaders,
  createChannelWork,
  createMoneyWork,
  createPaymentParts,
  networkOf,
  withChannels,
} from './network-parts.ts';

/** Maximum wait at the start for the chains of further networks, so that one without an answer does not block the others. */
const START_WITHIN_MS = 5000;
const AGAIN_AFTER_MS = 5000;

/**
 * Opens the networks besides the default one, and tokens besides the first of a chain, each as soon as its chain answers and its books
 * agree with it. Until then the node does not use it: nothing is offered on it, and pending work on it waits.
 */
export async function startNetworks(
  ctx: NodeContext,
  settings: readonly NetworkSettings[],
  channels: ChannelSettings,
): Promise<Repeating> {
  const stopping = new AbortController();
  const started: Repeating[] = [];
  ctx.closedNetworks.push(...closedOf(ctx, settings, await listAssets(ctx.db)));
  const ofChain = createOfChain(ctx);
  const open = async (each: NetworkSettings) => {
    while (!stopping.signal.aborted) {
      try {
        started.push(await openNetwork(ctx, each, { channels, ofChain }));
        return;
      } catch (err) {
        ctx.log.error({ err, chainId: each.chainId }, 'a network cannot be used yet; the others go on');
        await delay(AGAIN_AFTER_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  };
  const opening = Promise.all(settings.map(open));
  await endsWithin(opening, START_WITHIN_MS);
  return {
    async stop() {
      stopping.abort();
      await endsWithin(opening, START_WITHIN_MS);
      await Promise.all(started.map((each) => each.stop()));
    },
  };
}

/** Further networks that wait for their chains, and those that the books have and the settings do not name. */
function closedOf(
  { chain: { wallet, formerWallets = [] } }: NodeContext,
  settings: readonly NetworkSettings[],
  assets: readonly AssetRow[],
): ClosedNetwork[] {
  const closed = (state: ClosedNetwork['state'], of: Pick<NetworkSettings, 'chainId' | 'isLocal' | 'token'>) => {
    const { chainId, isLocal } = of;
    const token = tokenOf(of);
    const caip2 = `eip155:${chainId}`;
    const asset = assetIdOf({ caip2, token });
    const facts = assets.find(({ id }) => id === asset)?.domain ?? null;
    const options = { chainId, isLocal, isDefault: false, wallet, formerWallets, token };
    const chain = facts && { ...chainInfoOf(options, facts), channelFault: 'its chain does not answer' };
    return { state, chainId, caip2, name: networkName(chainId), token, asset, chain };
  };
  const away = settings.map((each) => closed('away', each));
  const removed = assets.filter(({ id, isDefault }) => !isDefault && !away.some(({ asset }) => asset === id));
  return [...away, ...removed.map((each) => closed('removed', { ...each, isLocal: false }))];
}

const tokenOf = ({ chainId, token }: Pick<NetworkSettings, 'chainId' | 'token'>): string =>
  (token ?? payableChain(chainId)?.usdc ?? '').toLowerCase();

interface OpeningNeeds {
  readonly channels: ChannelSettings;
  readonly ofChain: ReturnType<typeof createOfChain>;
}

interface OfChain {
  readonly gas: GasWatch;
  readonly keyTurns: KeyTurns;
}

/** Gas and keys of each chain: its tokens share them. */
function createOfChain(ctx: NodeContext) {
  const known = new Map<number, OfChain>([[ctx.chain.chainId, ctx]]);
  return (access: ChainAccess, { gasPerDayWei = ctx.paymentLimits.gasPerDayWei }: NetworkSettings): OfChain => {
    const { chainId, caip2 } = access.chain;
    const create = () => {
      const needs = { ...ctx, ...access, gasPerDayWei, metrics: metricsOn(ctx.metrics, caip2) };
      return { gas: createGasWatches(ctx, needs).gas, keyTurns: createKeyTurns(ctx.senders.length) };
    };
    const shared = known.get(chainId) ?? create();
    known.set(chainId, shared);
    return shared;
  };
}

/** The network is the node's once its chain has been compared with the books. */
async function openNetwork(ctx: NodeContext, settings: NetworkSettings, needs: OpeningNeeds): Promise<Repeating> {
  const { isLocal, chainId, rpcUrl } = settings;
  const token = tokenOf(settings);
  const name = assetNameOf({ chainId, token, caip2: `eip155:${chainId}` });
  const metrics = metricsOn(ctx.metrics, name);
  ctx.metrics.networkOpen.set({ network: name }, 0);
  const { network, refresh } = await createNetwork({ ...ctx, metrics }, settings, needs);
  const on = { ...ctx, ...network, metrics };
  await prepareChain(on, isLocal ? localRepair({ token, rpcUrl: () => rpcUrl }) : null, () => catchUp(on));
  const recurring = startRecurringOn(on, refresh);
  const place = ctx.closedNetworks.findIndex(({ asset }) => asset === network.chain.ledgerAsset);
  if (place >= 0) ctx.closedNetworks.splice(place, 1);
  ctx.networks.push(network);
  metrics.networkOpen.set({ network: name }, 1);
  ctx.log.info({ network: name }, 'a further network is open');
  return recurring;
}

async function createNetwork(ctx: NodeContext, settings: NetworkSettings, { channels, ofChain }: OpeningNeeds) {
  const { formerWallets = [], wallet } = ctx.chain;
  const opened = await openChain({ ...settings, isDefault: false, wallet, formerWallets });
  const access = await withChannels(opened, channels, ctx.log);
  const needs = { ...ctx, ...access };
  const { gas, keyTurns } = ofChain(access, settings);
  const parts = { ...createPaymentParts(needs), ...createChainReaders(settings.rpcUrl, access.chain) };
  const base = { ...needs, gas, ...parts, transferDepthBlocks: settings.transferDepthBlocks };
  const channelWork = createChannelWork(base);
  const moneyWork = createMoneyWork({ ...base, ...channelWork }, keyTurns);
  let isOpen = true;
  const refresh = async () => {
    isOpen = await access.usdc.headBlock().then(
      () => true,
      () => false,
    );
    ctx.metrics.networkOpen.set({ network: assetNameOf(access.chain) }, isOpen ? 1 : 0);
  };
  return { network: networkOf({ ...base, ...channelWork, ...moneyWork }, () => isOpen), refresh };
}
