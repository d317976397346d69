import { caip2ByChain, usdcByChain, v1NetworkByChain } from '@agent-network/chain/addresses';
import type { Config, Confirmations } from '../config.ts';
import { createChainFees, type HasFees } from './chain-fees.ts';
import type { HasChain } from './chain-info.ts';
import { createSettlementContract, type HasSettlementContract } from './channels/settlement-contract-client.ts';
import type { HasConfirmations } from './confirmation-depth.ts';
import { unreachable } from './unreachable.ts';
import { createUsdcClient, type HasUsdc } from './usdc-client.ts';

/** Reads and sends on the chain: its facts, the USDC client, the contract of channels, current fees, the depth at which a block counts. */
export interface ChainAccess extends HasChain, HasUsdc, HasSettlementContract, HasFees, HasConfirmations {}

interface ChainOptions {
  readonly rpcUrl: string;
  readonly chainId: Config['chainId'];
  readonly isLocal: boolean;
  /** The node's wallet, lower case. */
  readonly wallet: string;
  readonly formerWallets: readonly string[];
  readonly confirmations: Confirmations;
}

/** Connects to the chain and reads the facts about it. Throws when it does not answer, or is not the configured one. */
export async function openChain(options: ChainOptions): Promise<ChainAccess> {
  const { rpcUrl, chainId, isLocal, wallet, formerWallets, confirmations } = options;
  const token = usdcByChain[chainId].toLowerCase();
  const usdc = createUsdcClient({ rpcUrl, token });
  const served = await usdc.chainId().catch((error: unknown) => {
    throw unreachable(rpcUrl, error);
  });
  if (served !== chainId) throw new Error(`CHAIN_RPC_URL serves chain ${served}, but CHAIN_ID is ${chainId}.`);
  const { name: tokenName, version: tokenVersion, domainSeparator } = await usdc.readToken();
  const [caip2, name] = [caip2ByChain[chainId], v1NetworkByChain[chainId]];
  const ofToken = { token, tokenName, tokenVersion, domainSeparator };
  const chain = { chainId, isLocal, caip2, name, ...ofToken, wallet, formerWallets };
  const settlementContract = createSettlementContract({ rpcUrl, chainId, token, wallet });
  return { chain, usdc, settlementContract, fees: createChainFees({ usdc }), confirmations };
}
