import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { x402Client } from '@x402/fetch';
import { createPublicClient, http } from 'viem';
import type { Harness, TestWallet } from './harness.ts';

/** The stock client of x402 that pays by a channel of this wallet, and by nothing else. */
export function stockChannelPayer({ ctx, rpcUrl }: Pick<Harness, 'ctx' | 'rpcUrl'>, wallet: TestWallet): x402Client {
  const reader = createPublicClient({ transport: http(rpcUrl) });
  const { address, signTypedData } = wallet;
  const signer = { address, signTypedData, readContract: reader.readContract.bind(reader) };
  return new x402Client().register(
    ctx.chain.caip2 as `eip155:${number}`,
    // biome-ignore lint/suspicious/noExplicitAny: the signer of the stock packages is narrower than viem's
    new BatchSettlementEvmScheme(signer as any),
  );
}

/** Asks for the terms of channels, which the stock clients do not do by themselves. */
export const askingForChannels =
  (send: typeof fetch): typeof fetch =>
  (input, init) => {
    const request = new Request(input, init);
    request.headers.set('x-payment-scheme', 'batch-settlement');
    return send(request);
  };

/** Charged and reserved amounts of a wallet's channels. */
export const chargedOf = ({ ctx }: Pick<Harness, 'ctx'>, wallet: Pick<TestWallet, 'address'>) =>
  ctx.db.query<{ chargedMicro: bigint; reservedMicro: bigint }>(
    'charged-of-wallet',
    'select charged_micro as "chargedMicro", reserved_micro as "reservedMicro" from channel where payer = $1',
    [wallet.address.toLowerCase()],
  );
