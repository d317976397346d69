import { payoutNonce } from '../../../src/chain/keys/payment-nonces.ts';
import { until } from '../../../src/lib/concurrency/until.ts';
import { agentTreasuryId } from '../../../src/payments/ledger/treasury.ts';
import { askDatabase } from '../../support/books.ts';
import type { Facts, RequestRow } from './bank-facts.ts';
import type { BankScene } from './bank-world.ts';

/** Whether the chain has the payment of a purpose that belongs to a request. */
export const isPaidOut = ({ world, timesUsed }: Facts, purpose: string, { id }: RequestRow): boolean =>
  timesUsed({ from: world.walletAddress, nonce: payoutNonce(world.ctx.chain.chainId, purpose, id) }) > 0;

/** An agent that called itself earns nothing by it: a bill that it did not collect goes back to it. */
const isDone = ({ status, payer, agentId }: RequestRow): boolean =>
  status === 'completed' && payer !== agentTreasuryId(agentId);

/** Earnings of a request's agent at the node; collected bills are on chain instead. */
export function earningOf(facts: Facts, row: RequestRow): bigint {
  if (row.billMicro === null) return BigInt(row.costMicro);
  return isDone(row) && !isPaidOut(facts, 'bill', row) ? BigInt(row.billMicro) : 0n;
}

/** A bill is the cost, unless it came back: one that was not collected, of a failed request or of a call to itself. */
export function checkBills(facts: Facts): void {
  const { world, requests } = facts;
  for (const row of requests) {
    if (row.billMicro === null) continue;
    const isCollected = isPaidOut(facts, 'bill', row);
    const costs = isCollected || isDone(row) ? row.billMicro : '0';
    world.tally.count('requests', `bill ${isCollected ? 'collected' : 'not collected'}, ${row.status}`);
    if (row.costMicro !== costs)
      world.tally.violation(`${row.id} is ${row.status}, billed ${row.billMicro}, and costs ${row.costMicro}`);
  }
}

/** Lets uncollected bills expire, once no agent would collect one. */
export async function letBillsExpire(world: BankScene, timeoutMs: number): Promise<void> {
  const running = 'select id from invocation where completed_at is null';
  const isEnded = async () => ((await askDatabase(world.databaseUrl, running)).length === 0 ? true : null);
  await until(isEnded, { timeoutMs, firstMs: 50, maxMs: 250 });
  await Promise.all(world.agents.map((agent) => agent.idle()));
  await askDatabase(
    world.databaseUrl,
    `update chain_payment set valid_before = 0 where purpose = 'bill' and state in ('claimed', 'broadcasting')`,
  );
}
