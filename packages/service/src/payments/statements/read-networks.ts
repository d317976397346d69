import { symbolOf } from '@agent-network/chain/addresses';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import type { PaymentNetwork } from '@agent-network/contracts/payments/networks';
import type { AssetReserves, Reserves } from '@agent-network/contracts/payments/reserves';
import { type AssetKey, assetIdOf, type ChainInfo, type NodeIdentity } from '../../chain/chain-info.ts';
import type { SigningKeys } from '../../chain/gas-watch.ts';
import { type ClosedNetwork, type Network, type Networks, onEach } from '../../chain/networks.ts';
import { within } from '../../lib/concurrency/within.ts';
import type { Store } from '../../store/database.ts';
import type { PaymentConditions } from '../chain-outbox/chain-context.ts';
import type { LedgerAsset } from '../ledger/asset-account.ts';
import { sumByKind } from '../ledger/ledger-total-store.ts';
import { readSettlementState } from '../settlement/settlement-state.ts';
import { owedKinds, type ReservesReader } from './read-reserves.ts';

export type NetworksContext = NodeIdentity &
  Networks &
  Partial<Pick<Network, 'isOpen'>> &
  Pick<SigningKeys, 'gas'> &
  PaymentConditions & { readonly reserves: ReservesReader };

/** Timeout of each network, so that a slow one does not delay the others. */
export const ASKED_FOR_MS = 2000;

/** The networks of the node, the default one first, and those that are closed. Those of one chain are one, with its tokens: it is as its USDC is, or the first that is there. */
export async function readNetworks(ctx: NetworksContext): Promise<PaymentNetwork[]> {
  const open = await Promise.all(onEach(ctx).map(openNetwork));
  const all = [...open, ...(ctx.closedNetworks ?? []).map(closedNetwork)];
  return [...Map.groupBy(all, ({ id }) => id).values()].flatMap((ofChain) => {
    const first = ofChain.find(({ tokens }) => tokens[0]?.symbol === 'USDC') ?? ofChain[0];
    return first
      ? { ...first, tokens: [first, ...ofChain.filter((each) => each !== first)].flatMap(({ tokens }) => tokens) }
      : [];
  });
}

async function openNetwork(ctx: NetworksContext): Promise<PaymentNetwork> {
  const { chain } = ctx;
  const state = await stateOf(ctx);
  return {
    ...{ id: chain.caip2, name: chain.name, isDefault: chain.ledgerAsset === null },
    tokens: tokensOf({ ...chain, asset: assetIdOf(chain), state }),
    schemes: ['exact', ...(chain.channels ? ['batch-settlement'] : [])],
    settlers: ['own'],
    state,
  };
}

const closedNetwork = (closed: ClosedNetwork): PaymentNetwork => ({
  ...{ id: closed.caip2, name: closed.name, isDefault: false, tokens: tokensOf(closed) },
  ...{ schemes: [], settlers: [], state: closed.state },
});

type NamedToken = AssetKey & Pick<PaymentNetwork, 'state'> & { readonly asset: string };

const tokensOf = ({ asset, chainId, token, state }: NamedToken): PaymentNetwork['tokens'] => [
  { asset, symbol: symbolOf(chainId, token), address: token, decimals: 6, state },
];

const isAway = ({ isOpen = () => true }: Pick<NetworksContext, 'isOpen'>): boolean => !isOpen();

async function stateOf(ctx: NetworksContext): Promise<PaymentNetwork['state']> {
  if (isAway(ctx)) return 'away';
  const state = await within(readSettlementState(ctx), ASKED_FOR_MS, null);
  return state === null ? 'away' : state === 'ok' ? 'open' : state;
}

/** The reserves of each asset in short; `own`: those of the default one, which were read; null: they could not be. */
export async function readAssetReserves(ctx: NetworksContext & Store, own: Reserves | null): Promise<AssetReserves[]> {
  const closed = ctx.closedNetworks ?? [];
  return Promise.all([
    ...onEach(ctx).map(async (each) => {
      const { chain } = each;
      const isDefault = chain.ledgerAsset === null;
      const read = isDefault
        ? own
        : isAway(each)
          ? null
          : await within(
              each.reserves.read().catch(() => null),
              ASKED_FOR_MS,
              null,
            );
      const { caip2 } = chain;
      const closed = { caip2, asset: assetIdOf(chain), ledgerAsset: chain.ledgerAsset, state: 'away' } as const;
      return read ? shortOf(chain, read) : unread(ctx, closed, chain.wallet);
    }),
    ...closed.map((each) => unread(ctx, { ...each, ledgerAsset: each.asset }, ctx.chain.wallet)),
  ]);
}

function shortOf(chain: ChainInfo, { onChain, channels, liabilities, difference, status }: Reserves): AssetReserves {
  const escrow = formatUsdc(parseUsdc(channels.vouchers) + parseUsdc(channels.claimed));
  const { caip2: network, wallet } = chain;
  const { total: owed, outgoing } = liabilities;
  return { asset: assetIdOf(chain), network, wallet, onChain, owed, outgoing, escrow, difference, status };
}

/** Reserves of a network from the books alone. */
async function unread(
  { db }: Store,
  { caip2, asset, ledgerAsset, state }: Pick<ClosedNetwork, 'caip2' | 'asset' | 'state'> & { ledgerAsset: LedgerAsset },
  wallet: string,
): Promise<AssetReserves> {
  const sums = await sumByKind(db, ledgerAsset);
  const outgoing = formatUsdc(sums.get('outgoing') ?? 0n);
  const owed = formatUsdc(owedKinds.reduce((sum, kind) => sum + (sums.get(kind) ?? 0n), 0n));
  const ofBooks = { asset, network: caip2, wallet, owed, outgoing, status: state };
  return { ...ofBooks, onChain: null, escrow: null, difference: null };
}
