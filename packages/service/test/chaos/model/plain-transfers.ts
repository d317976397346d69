import { callChain } from '@agent-network/chain/chain-rpc-client';
import { usdcAbi } from '@agent-network/chain/usdc-abi';
import { encodeFunctionData, type Hex, keccak256 } from 'viem';
import type { TestWallet } from '../../support/harness.ts';
import { nodeWallet } from './model-run.ts';
import type { ModelWorld } from './model-world.ts';

const signed = new WeakMap<ModelWorld, readonly PlainTransfer[]>();
const sending = new WeakMap<ModelWorld, Promise<unknown>>();
/** Reorgs reach no further back. */
const KEPT = 16;

interface PlainTransfer {
  readonly raw: Hex;
  readonly from: string;
  readonly micro: bigint;
}

/** A wallet sends USDC to the node the plain way, in a transaction that a reorg can take back; false when it has too little. */
export function sendPlainly(world: ModelWorld, wallet: TestWallet, micro: bigint): Promise<boolean> {
  // One after the other, as each takes the next nonce of its wallet.
  const sent = (sending.get(world) ?? Promise.resolve()).then(() => sendNext(world, wallet, micro));
  sending.set(
    world,
    sent.catch(() => undefined),
  );
  return sent;
}

async function sendNext(world: ModelWorld, wallet: TestWallet, micro: bigint): Promise<boolean> {
  const { rpcUrl, usdc, chainId } = world.chain;
  if ((await world.usdc.balanceOf(wallet.address)) < micro) return false;
  const nonce = await callChain<Hex>(rpcUrl, 'eth_getTransactionCount', wallet.address, 'latest');
  const raw = await wallet.signTransaction({
    chainId,
    to: usdc,
    data: encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [nodeWallet(world) as Hex, micro] }),
    gas: 100_000n,
    gasPrice: 0n,
    nonce: Number(nonce),
  });
  signed.set(world, [...(signed.get(world) ?? []), { raw, from: wallet.address, micro }].slice(-KEPT));
  await callChain(rpcUrl, 'eth_sendRawTransaction', raw);
  const receipt = await minedReceipt(rpcUrl, raw);
  return receipt.status === '0x1';
}

async function minedReceipt(rpcUrl: string, raw: Hex): Promise<{ status: string }> {
  for (;;) {
    const receipt = await callChain<{ status: string } | null>(rpcUrl, 'eth_getTransactionReceipt', keccak256(raw));
    if (receipt) return receipt;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Sends plain transfers in removed blocks again, as soon as the wallet has the money. */
export async function sendAgain(world: ModelWorld): Promise<void> {
  const { rpcUrl } = world.chain;
  for (const { raw, from, micro } of signed.get(world) ?? []) {
    if (await callChain(rpcUrl, 'eth_getTransactionReceipt', keccak256(raw))) continue;
    if ((await world.usdc.balanceOf(from)) < micro) continue;
    await callChain(rpcUrl, 'eth_sendRawTransaction', raw);
    await minedReceipt(rpcUrl, raw);
  }
}
