/** `fetch` that pays, as the guide of `@x402/fetch` has it. */
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';

export const stockFetch = (fetch, privateKey) =>
  wrapFetchWithPayment(
    fetch,
    new x402Client().register('eip155:84532', new ExactEvmScheme(privateKeyToAccount(privateKey))),
  );
