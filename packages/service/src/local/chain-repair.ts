import { LOCAL_CHAIN_ID, usdcByChain } from '@agent-network/chain/addresses';
import { testUsdcAbi } from '@agent-network/chain/artifacts';
import { callChain, callChainBatch } from '@agent-network/chain/chain-rpc-client';
import { encodeFunctionData, keccak256, numberToHex } from 'viem';
import type { HasDb } from '../db/database.ts';
import type { Log } from '../lib/log/log.ts';
import type { ChainRepair } from '../payments/reconcile/chain-repair.ts';
import { payersIn } from '../payments/reconcile/replay.ts';

type Hex = `0x${string}`;

const USDC = usdcByChain[LOCAL_CHAIN_ID];

/** Repairs through anvil's RPC, without mining blocks, so that replayed blocks keep their own times. */
export const repairOf = (rpcUrl: () => string): ChainRepair => ({
  setUsdc: async (address, micro) =>
    void (await callChain(rpcUrl(), 'anvil_dealERC20', address, USDC, numberToHex(micro))),
  setNonce: async (address, nonce) => void (await callChain(rpcUrl(), 'anvil_setNonce', address, numberToHex(nonce))),
});

interface LostTransactions extends HasDb {
  readonly log: Log;
  readonly rpcUrl: string;
  /** Our transactions that were in a block. */
  readonly mined: readonly Hex[];
}

/**
 * Restores funds of payers. A chain of a version without a journal may have lost other parties' transactions together with ours, such as
 * the one that funded a payer. Before ours are replayed, payers get the test money that they paid with and lack.
 */
export async function fundLostPayers({ db, log, rpcUrl, mined }: LostTransactions): Promise<void> {
  if (mined.length === 0) return;
  const hashes = mined.map((raw) => keccak256(raw));
  const receipts = await callChainBatch(
    rpcUrl,
    hashes.map((hash) => ['eth_getTransactionReceipt', hash] as const),
  );
  const lost = hashes.filter((_, index) => receipts[index] === null);
  if (lost.length === 0) return;
  const repair = repairOf(() => rpcUrl);
  for (const { address, paidMicro } of await payersIn({ db }, lost)) {
    const holdsMicro = await usdcOf(rpcUrl, address);
    if (holdsMicro >= paidMicro) continue;
    await repair.setUsdc(address, paidMicro);
    log.warn({ address, paidMicro, holdsMicro }, "local chain lost a payer's funds; replaced them with test money");
  }
}

async function usdcOf(rpcUrl: string, address: string): Promise<bigint> {
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'balanceOf', args: [address as Hex] });
  return BigInt(await callChain<Hex>(rpcUrl, 'eth_call', { to: USDC, data }, 'latest'));
}
