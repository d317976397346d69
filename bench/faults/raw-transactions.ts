import type { RpcCall } from '../../packages/service/test/support/rpc-proxy.ts';

export const SENDING = 'eth_sendRawTransaction';

/** The payers of the authorizations in a call, alone or in a batch. */
export function payersIn({ params }: RpcCall, payers: Iterable<`0x${string}`>): `0x${string}`[] {
  const raw = String(params[0]).toLowerCase();
  return [...payers].filter((payer) => raw.includes(payer.slice(2)));
}
