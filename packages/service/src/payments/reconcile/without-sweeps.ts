import type { ChainAccess } from '../../chain/chain-access.ts';
import { SETTLEMENT_CONTRACT } from '../../chain/channels/channel-calls.ts';
import type { IncomingTransfer } from '../../chain/incoming-transfer-client.ts';

/**
 * The transfers to the node's wallet that are no sweeps of claimed vouchers, which are booked from the contract's totals. What else comes
 * from the settlement contract, as a withdrawal of a stranger's channel for the wallet, is a transfer as any other.
 */
export async function withoutSweeps(
  { chain, settlementContract }: ChainAccess,
  transfers: readonly IncomingTransfer[],
  range: { readonly fromBlock: bigint; readonly toBlock: bigint },
): Promise<IncomingTransfer[]> {
  if (!transfers.some(({ from }) => from === SETTLEMENT_CONTRACT)) return [...transfers];
  const logs = await settlementContract.readLogs(range.fromBlock, range.toBlock);
  const sweeps = logs.flatMap(({ event, transactionHash }) =>
    event.kind === 'swept' && event.receiver === chain.wallet && event.token === chain.token
      ? [`${transactionHash} ${event.amountMicro}`]
      : [],
  );
  return transfers.filter(({ from, transactionHash, valueMicro }) => {
    const place = from === SETTLEMENT_CONTRACT ? sweeps.indexOf(`${transactionHash} ${valueMicro}`) : -1;
    if (place >= 0) sweeps.splice(place, 1);
    return place < 0;
  });
}
