import { type Hex, keccak256 } from 'viem';
import { callChain, callChainBatch } from './chain-rpc-client.ts';
import { minerOf, presentS } from './journal/replay-journal.ts';

/** A signed transaction that was sent before. `minedAtS` is its block's timestamp, in Unix seconds. */
export type ReplayTransaction = { raw: Hex; minedAtS?: number };

/** Outcome of one transaction: already on the chain, mined now, mined now but reverted, or rejected (with the chain's reason). */
export type ReplayOutcome = {
  hash: Hex;
  outcome: 'known' | 'mined' | 'reverted' | 'refused';
  reason?: string;
};

/**
 * Sends transactions again, in the order given, to a local chain that lost them. Each is mined at its original block's timestamp if the
 * chain has not passed it yet, so that an EIP-3009 window which has closed since still counts; those never mined come last, at the present
 * time. The chain must mine on demand only, without other users. Afterwards its time is the present. Throws only when the chain is
 * unavailable.
 */
export async function replayTransactions(
  rpcUrl: string,
  transactions: readonly ReplayTransaction[],
): Promise<ReplayOutcome[]> {
  const outcomes = new Map<ReplayTransaction, ReplayOutcome>();
  const mineAt = await minerOf(rpcUrl);
  for (const [minedAtS, group] of groupByBlock(transactions)) {
    const sent = await sendUnknown(rpcUrl, group, outcomes);
    if (sent.length > 0) await mineAt(minedAtS ?? presentS());
    for (const transaction of sent) await recordReceipt(rpcUrl, transaction, outcomes);
  }
  await mineAt(presentS());
  await callChain(rpcUrl, 'evm_setTime', presentS());
  return transactions.flatMap((transaction) => outcomes.get(transaction) ?? []);
}

function groupByBlock(
  transactions: readonly ReplayTransaction[],
): [minedAtS: number | undefined, group: ReplayTransaction[]][] {
  const mined = transactions.filter(({ minedAtS }) => minedAtS !== undefined);
  const unmined = transactions.filter(({ minedAtS }) => minedAtS === undefined);
  const groups: [number | undefined, ReplayTransaction[]][] = [];
  for (const transaction of [...mined, ...unmined]) {
    const last = groups.at(-1);
    if (last && last[0] === transaction.minedAtS) last[1].push(transaction);
    else groups.push([transaction.minedAtS, [transaction]]);
  }
  return groups;
}

async function sendUnknown(
  rpcUrl: string,
  group: readonly ReplayTransaction[],
  outcomes: Map<ReplayTransaction, ReplayOutcome>,
): Promise<ReplayTransaction[]> {
  const hashes = group.map(({ raw }) => keccak256(raw));
  const receipts = await callChainBatch(
    rpcUrl,
    hashes.map((hash) => ['eth_getTransactionReceipt', hash] as const),
  );
  const sent: ReplayTransaction[] = [];
  for (const [index, transaction] of group.entries()) {
    const hash = keccak256(transaction.raw);
    if (receipts[index]) {
      outcomes.set(transaction, { hash, outcome: 'known' });
      continue;
    }
    const reason = await refusal(rpcUrl, transaction.raw);
    if (reason === undefined) sent.push(transaction);
    else outcomes.set(transaction, { hash, outcome: 'refused', reason });
  }
  return sent;
}

async function refusal(rpcUrl: string, raw: Hex): Promise<string | undefined> {
  try {
    await callChain(rpcUrl, 'eth_sendRawTransaction', raw);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function recordReceipt(
  rpcUrl: string,
  transaction: ReplayTransaction,
  outcomes: Map<ReplayTransaction, ReplayOutcome>,
): Promise<void> {
  const hash = keccak256(transaction.raw);
  const receipt = await callChain<{ status: Hex } | null>(rpcUrl, 'eth_getTransactionReceipt', hash);
  if (!receipt) outcomes.set(transaction, { hash, outcome: 'refused', reason: 'accepted, but not mined' });
  else outcomes.set(transaction, { hash, outcome: receipt.status === '0x1' ? 'mined' : 'reverted' });
}
