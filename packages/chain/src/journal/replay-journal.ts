import { ChainRpcError, callChain, callChainBatch } from '../chain-rpc-client.ts';
import type { JournalRecord } from './chain-journal-store.ts';

/** Result of a replay: calls, blocks, and the number of calls that the chain refused (as it did the first time). */
export type JournalReplay = { calls: number; blocks: number; refused: number };

/**
 * Replays the calls of a journal, in order, on a chain without other users that mines on demand only. Each block gets its original time, so
 * that time-dependent results, such as EIP-3009 windows, are the same. Throws only when the chain is unavailable.
 */
export async function replayJournal(rpcUrl: string, records: readonly JournalRecord[]): Promise<JournalReplay> {
  const replay = { calls: 0, blocks: 0, refused: 0 };
  const last = records.at(-1);
  if (!last) return replay;
  const mine = await minerOf(rpcUrl);
  for (const { method, params, atS } of records) {
    if (method === 'evm_mine') {
      await mine(atS);
      replay.blocks += 1;
    } else if (await isTaken(rpcUrl, method, params)) replay.calls += 1;
    else replay.refused += 1;
  }
  const { pending } = await callChain<{ pending: string }>(rpcUrl, 'txpool_status');
  // The process died between the call and its block.
  if (Number(pending) > 0) await mine(last.atS);
  await callChain(rpcUrl, 'evm_setTime', presentS());
  return replay;
}

async function isTaken(rpcUrl: string, method: string, params: readonly unknown[]): Promise<boolean> {
  try {
    await callChain(rpcUrl, method, ...params);
    return true;
  } catch (error) {
    if (error instanceof ChainRpcError) return false;
    throw error;
  }
}

export const presentS = (): number => Math.floor(Date.now() / 1000);

/** Mines one block at a time, past or present; at the latest block's time when the chain is already past it. */
export async function minerOf(rpcUrl: string): Promise<(timeS: number) => Promise<void>> {
  const latest = await callChain<{ timestamp: string }>(rpcUrl, 'eth_getBlockByNumber', 'latest', false);
  let newestS = Number(latest.timestamp);
  // A freshly loaded anvil takes its own start time for the latest block's; setting its clock first corrects that.
  await callChain(rpcUrl, 'evm_setTime', newestS);
  return async (timeS) => {
    newestS = Math.max(newestS, timeS);
    await callChainBatch(rpcUrl, [['evm_setNextBlockTimestamp', newestS], ['evm_mine']]);
  };
}
