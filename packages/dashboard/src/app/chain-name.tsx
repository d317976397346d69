import { nameOfNetwork, networkName } from './network-name.ts';
import { useSessionInfo } from './session.ts';

/** The name of the chain that this node works on. */
export const ChainName = () => networkName(useSessionInfo());

/** Returns the names of networks by their CAIP-2 ids. */
export function useNetworkName(): (caip2: string) => string {
  const chain = useSessionInfo();
  return (caip2) => nameOfNetwork(caip2, chain);
}

export const NetworkName = ({ id }: { id: string }) => useNetworkName()(id);
