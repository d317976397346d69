/** `fetch` that pays, as the guide of `@x402/fetch` has it. */
import { toClientEvmSigner } from '@x402/evm';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { createPublicClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

export const stockFetch = (fetch, privateKey) =>
  wrapFetchWithPayment(
    fetch,
    new x402Client().register('eip155:84532', new ExactEvmScheme(privateKeyToAccount(privateKey))),
  );

/** The same with both schemes; `close` has what is left in the channel refunded. */
export function stockChannelFetch(fetch, privateKey, rpcUrl) {
  const account = privateKeyToAccount(privateKey);
  const chain = createPublicClient({ transport: http(rpcUrl) });
  const channels = new BatchSettlementEvmScheme(toClientEvmSigner(account, chain));
  const client = new x402Client()
    .register('eip155:84532', new ExactEvmScheme(account))
    .register('eip155:84532', channels);
  return { pay: wrapFetchWithPayment(fetch, client), close: (url) => channels.refund(url) };
}
