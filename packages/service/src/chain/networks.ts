import { AppError, invalid } from '../lib/app-error.ts';
import {
  type AssetKey,
  assetIdOf,
  assetNameOf,
  type ChainInfo,
  type NodeIdentity,
  namesOfAsset,
} from './chain-info.ts';

/**
 * The networks that the node is paid on, the default one first: one for each token of a chain. Each has what use cases need of a chain, under the names that a context has it:
 * a context is on one network, and the same on another has those parts of that one in their place.
 */
export interface Networks {
  readonly networks: readonly Network[];
  /** Networks with money in the books or possibly to come, on which the node can't act now. */
  readonly closedNetworks?: readonly ClosedNetwork[];
}

/** A network besides the default one that is not open. */
export interface ClosedNetwork {
  /** `away`: since the start, its chain has not answered, or has contradicted the books. `removed`: the settings do not name it any more. */
  readonly state: 'away' | 'removed';
  readonly chainId: number;
  readonly caip2: string;
  readonly name: string;
  readonly token: string;
  /** CAIP-19 id of its token. */
  readonly asset: string;
  /** Last known facts of the network; null: the node was never on it. */
  readonly chain: ChainInfo | null;
}

export interface Network extends Pick<NodeIdentity, 'chain'> {
  /** False while the chain does not answer: nothing is offered on the network then. The default network is always offered. */
  readonly isOpen?: () => boolean;
}

type OnNetwork = Pick<NodeIdentity, 'chain'> & Partial<Networks>;

/** The context on the first network that fits; itself, if its own does. null: none does. */
function on<C extends OnNetwork>(ctx: C, fits: (network: Network) => boolean): C | null {
  if (fits(ctx)) return ctx;
  const network = ctx.networks?.find(fits);
  return network ? { ...ctx, ...network } : null;
}

/** The context on a token of a chain, as a payment names both; null: the node does not take it there. */
export const onToken = <C extends OnNetwork>(ctx: C, { chainId, token }: AssetKey): C | null =>
  on(ctx, ({ chain }) => chain.chainId === chainId && chain.token === token);

/** The context on the network of this ledger asset; null: the node is not, or no longer, on it. */
export const onAsset = <C extends OnNetwork>(ctx: C, ledgerAsset: string | null): C | null =>
  on(ctx, ({ chain }) => chain.ledgerAsset === ledgerAsset);

/**
 * The context on the asset with this name: its CAIP-19 id, or for USDC the network's name in CAIP-2 or x402 version 1; null: the node is
 * not, or no longer, on it.
 */
export const onNamed = <C extends OnNetwork>(ctx: C, name: string): C | null =>
  on(ctx, ({ chain }) => namesOfAsset(chain).includes(name));

/** The chain of an asset, also while it does not answer; null: the node is not on its network, any more. */
export const chainOfAsset = (ctx: OnNetwork, ledgerAsset: string | null): ChainInfo | null =>
  onAsset(ctx, ledgerAsset)?.chain ??
  ctx.closedNetworks?.find(({ state, asset }) => state === 'away' && asset === ledgerAsset)?.chain ??
  null;

/** Throws UNAVAILABLE for a closed asset, by a name of it, so that clients do not pay again in another one. */
export function refuseClosed({ closedNetworks = [] }: Partial<Networks>, name: string): void {
  const closed = closedNetworks.find((each) => namesOfAsset(each).includes(name));
  if (closed) throw new AppError('UNAVAILABLE', `${whyClosed(closed)} Nothing was changed.`);
}

export function whyClosed({ state, ...asset }: Pick<ClosedNetwork, 'state' | 'chainId' | 'token' | 'caip2'>): string {
  const name = assetNameOf(asset);
  return state === 'away'
    ? `The chain of ${name} does not answer now.`
    : `The node is not on ${name} any more; its operator can name it in the settings again.`;
}

/** The name in x402 of an asset's network, as long as the node knows it. */
export const nameOfAsset = (ctx: OnNetwork, ledgerAsset: string | null): string =>
  onAsset(ctx, ledgerAsset)?.chain.name ??
  ctx.closedNetworks?.find(({ asset }) => asset === ledgerAsset)?.name ??
  ctx.chain.name;

/**
 * The context on the requested network or asset; unchanged without a request. Throws VALIDATION_ERROR for one that the node does not have,
 * and UNAVAILABLE while its chain does not answer.
 */
export function onAsked<C extends OnNetwork & Partial<Network>>(
  ctx: C,
  name: string | undefined,
  field = 'network',
): C {
  if (name === undefined) return ctx;
  refuseClosed(ctx, name);
  const asked = onNamed(ctx, name);
  const names = onEach(ctx).map(({ chain }) => assetNameOf(chain));
  if (!asked) throw invalid(field, `is one of ${names.join(', ')}`);
  if (asked.isOpen?.() ?? true) return asked;
  throw new AppError('UNAVAILABLE', `${whyClosed({ state: 'away', ...asked.chain })} Nothing was changed.`);
}

/** The context on the default network. */
export const onDefault = <C extends OnNetwork>(ctx: C): C => onAsset(ctx, null) ?? ctx;

/** The context on each network and token of the node, its own first. */
export const onEach = <C extends OnNetwork>(ctx: C): C[] => [
  ctx,
  ...(ctx.networks ?? []).flatMap(({ chain }) =>
    chain.ledgerAsset === ctx.chain.ledgerAsset ? [] : (onAsset(ctx, chain.ledgerAsset) ?? []),
  ),
];

/** The context on each network with a chain that answers, its own first. */
export const onEachOpen = <C extends OnNetwork & Partial<Network>>(ctx: C): C[] =>
  onEach(ctx).filter((each) => each === ctx || (each.isOpen?.() ?? true));

/** Returns the context. Throws UNAVAILABLE when the network is closed. */
export function requireNetwork<C extends OnNetwork>(found: C | null): C {
  if (found) return found;
  throw new AppError(
    'UNAVAILABLE',
    'The network of this money is closed: its chain does not answer, or the node is not on it any more (GET /payments/networks). Nothing was changed.',
  );
}

/** An asset that the books have or may get, with its network: also of a closed network, of which only the books can be read. */
export interface KnownAsset extends Pick<ClosedNetwork, 'chainId' | 'caip2' | 'name' | 'token' | 'asset'> {
  /** The asset in ids of ledger accounts; null: the default asset. */
  readonly ledgerAsset: string | null;
}

/** The assets of the node, the default one first. */
export const knownAssets = (ctx: OnNetwork): KnownAsset[] => [
  ...onEach(onDefault(ctx)).map(({ chain: { chainId, caip2, name, token, ledgerAsset }, chain }) => ({
    ...{ chainId, caip2, name, token, ledgerAsset },
    asset: assetIdOf(chain),
  })),
  ...(ctx.closedNetworks ?? []).map((closed) => ({ ...closed, ledgerAsset: closed.asset })),
];

/** The asset that a reader of the books asks for, by its id or a name of its network; the default one: for none. Throws VALIDATION_ERROR. */
export function assetAsked(ctx: OnNetwork, name: string | undefined): KnownAsset {
  const known = knownAssets(ctx);
  const asked = known.find((each) => name === undefined || namesOfAsset(each).includes(name));
  if (!asked) throw invalid('network', `is one of ${known.map(assetNameOf).join(', ')}`);
  return asked;
}
