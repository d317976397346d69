import { type Hex, settlementContract } from './channel-signatures.ts';

export interface ChannelOnChain {
  readonly balanceMicro: bigint;
  readonly claimedMicro: bigint;
}

/** `channels(bytes32)` */
const selector = '0x7a7ebd7b';

async function ask(rpcUrl: string, fetch: typeof globalThis.fetch, method: string, params: unknown[]): Promise<string> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(10_000),
  });
  const { result } = (await response.json()) as { result?: unknown };
  if (typeof result !== 'string' || !result.startsWith('0x'))
    throw new Error(`${new URL(rpcUrl).host} does not answer ${method}`);
  return result;
}

/** State of a channel on the chain. Throws when the RPC does not answer, or belongs to another chain. */
export async function readChannel(
  rpc: { readonly url: string; readonly fetch: typeof globalThis.fetch },
  chainId: number,
  channelId: Hex,
): Promise<ChannelOnChain> {
  const isChain = BigInt(await ask(rpc.url, rpc.fetch, 'eth_chainId', [])) === BigInt(chainId);
  if (!isChain) throw new Error(`${new URL(rpc.url).host} is not an RPC of chain ${chainId}`);
  const call = { to: settlementContract, data: `${selector}${channelId.slice(2)}` };
  const words = /^0x([0-9a-f]{64})([0-9a-f]{64})$/i.exec(await ask(rpc.url, rpc.fetch, 'eth_call', [call, 'latest']));
  if (!words) throw new Error(`chain ${chainId} has no settlement contract`);
  return { balanceMicro: BigInt(`0x${words[1]}`), claimedMicro: BigInt(`0x${words[2]}`) };
}
