import { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/facilitator';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { createWalletClient, http, nonceManager, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';

export const network = `eip155:${baseSepolia.id}`;

/** Without the nonce manager, payments that come at the same time fail; with viem's usual polling, each waits for seconds. */
export function inProcessFacilitator({ rpcUrl, facilitatorKey }) {
  const account = privateKeyToAccount(facilitatorKey, { nonceManager });
  const wallet = createWalletClient({
    account,
    chain: baseSepolia,
    transport: http(rpcUrl),
    pollingInterval: 10,
  }).extend(publicActions);
  // The local chain keeps no older states: a read of `latest` fails when a block is mined meanwhile.
  const readContract = (read) => wallet.readContract({ ...read, blockTag: 'pending' });
  const signer = toFacilitatorEvmSigner({ ...wallet, readContract, address: account.address });
  const facilitator = new x402Facilitator()
    .register(network, new ExactEvmScheme(signer))
    .register(network, new BatchSettlementEvmScheme(signer));
  return {
    verify: (payload, requirements) => facilitator.verify(payload, requirements),
    settle: (payload, requirements) => facilitator.settle(payload, requirements),
    getSupported: async () => facilitator.getSupported(),
  };
}
