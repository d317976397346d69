import { networkName } from './network-name.ts';
import { useSessionInfo } from './session.ts';

/** The name of the chain that this node works on. */
export const ChainName = () => networkName(useSessionInfo());
