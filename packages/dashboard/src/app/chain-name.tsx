import type { AssetName } from '@agent-network/contracts/payments/networks';
import { nameOfNetwork, networkName } from './network-name.ts';
import { useSessionInfo } from './session.ts';

/** The name of the chain that this node works on. */
export const ChainName = () => networkName(useSessionInfo());

type Asset = Pick<AssetName, 'network' | 'symbol'>;

/** Returns the names of assets: that of the network, with the symbol of a token that is not USDC. */
export function useAssetName(): (asset: Asset) => string {
  const chain = useSessionInfo();
  return ({ network, symbol }) => {
    const name = nameOfNetwork(network, chain);
    return symbol === 'USDC' ? name : `${name}, ${symbol}`;
  };
}

export const AssetLabel = ({ of }: { of: Asset }) => useAssetName()(of);
