import { AppError, invalid } from '../lib/app-error.ts';
import type { ChainInfo, HasChain } from './chain-info.ts';

/**
 * The networks that the node is paid on, the default one first. Each has what use cases need of a chain, under the names that a context has it:
 * a context is on one network, and the same on another has those parts of that one in their place.
 */
export interface HasNetworks {
  readonly networks: readonly Network[];
  /** Networks with money in the books or possibly to come, on which the node can't act now. */
  readonly closedNetworks?: readonly ClosedNetwork[];
}

/** A network beside the default one that is not open. */
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

export interface Network extends HasChain {
  /** False while the chain does not answer: nothing is offered on the network then. The default network is always offered. */
  readonly isOpen?: () => boolean;
}

type OnNetwork = HasChain & Partial<HasNetworks>;

/** The context on the first network that fits; itself, if its own does. null: none does. */
function on<C extends OnNetwork>(ctx: C, fits: (network: Network) => boolean): C | null {
  if (fits(ctx)) return ctx;
  const network = ctx.networks?.find(fits);
  return network ? { ...ctx, ...network } : null;
}

/** The context on a chain; null: it is none of the node's. */
export const onChain = <C extends OnNetwork>(ctx: C, chainId: number): C | null =>
  on(ctx, ({ chain }) => chain.chainId === chainId);

/** The context on the network of this ledger asset; null: the node is not, or no longer, on it. */
export const onAsset = <C extends OnNetwork>(ctx: C, ledgerAsset: string | null): C | null =>
  on(ctx, ({ chain }) => chain.ledgerAsset === ledgerAsset);

/** The context on a network by its name in x402: CAIP-2, or as version 1 has it; null: it is none of the node's. */
export const onNamed = <C extends OnNetwork>(ctx: C, name: string): C | null =>
  on(ctx, ({ chain }) => chain.caip2 === name || chain.name === name);

/** The chain of an asset, also while it does not answer; null: the node is not on its network, any more. */
export const chainOfAsset = (ctx: OnNetwork, ledgerAsset: string | null): ChainInfo | null =>
  onAsset(ctx, ledgerAsset)?.chain ??
  ctx.closedNetworks?.find(({ state, asset }) => state === 'away' && asset === ledgerAsset)?.chain ??
  null;

/** Throws UNAVAILABLE for a closed network, by its name in x402, so that clients do not pay again on another one. */
export function refuseClosed({ closedNetworks = [] }: Partial<HasNetworks>, network: string): void {
  const closed = closedNetworks.find(({ caip2, name }) => caip2 === network || name === network);
  if (closed) throw new AppError('UNAVAILABLE', `${whyClosed(closed)} Nothing was changed.`);
}

export const whyClosed = ({ state, caip2 }: Pick<ClosedNetwork, 'state' | 'caip2'>): string =>
  state === 'away'
    ? `The chain of ${caip2} does not answer now.`
    : `The node is not on ${caip2} any more; its operator can name it in the settings again.`;

/** The name in x402 of an asset's network, as long as the node knows it. */
export const nameOfAsset = (ctx: OnNetwork, ledgerAsset: string | null): string =>
  onAsset(ctx, ledgerAsset)?.chain.name ??
  ctx.closedNetworks?.find(({ asset }) => asset === ledgerAsset)?.name ??
  ctx.chain.name;

/**
 * The context on the network that a caller asks for; as it is: for none. Throws VALIDATION_ERROR for one that is none of the node's, and
 * UNAVAILABLE while its chain does not answer.
 */
export function onAsked<C extends OnNetwork & Partial<Network>>(ctx: C, name: string | undefined): C {
  if (name === undefined) return ctx;
  refuseClosed(ctx, name);
  const asked = onNamed(ctx, name);
  const names = onEach(ctx).map(({ chain }) => chain.caip2);
  if (!asked) throw invalid('network', `is one of ${names.join(', ')}`);
  if (asked.isOpen?.() ?? true) return asked;
  throw new AppError('UNAVAILABLE', `${whyClosed({ state: 'away', caip2: asked.chain.caip2 })} Nothing was changed.`);
}

/** The context on the default network. */
export const onDefault = <C extends OnNetwork>(ctx: C): C => onAsset(ctx, null) ?? ctx;

/** The context on each network of the node, its own first. */
export const onEach = <C extends OnNetwork>(ctx: C): C[] => [
  ctx,
  ...(ctx.networks ?? []).flatMap(({ chain }) =>
    chain.chainId === ctx.chain.chainId ? [] : (onChain(ctx, chain.chainId) ?? []),
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
