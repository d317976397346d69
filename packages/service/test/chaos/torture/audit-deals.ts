import { payoutNonce } from '../../../src/chain/keys/payment-nonces.ts';
import type { Deal, SignedPayment } from './bank-book.ts';
import type { Facts, RequestRow } from './bank-facts.ts';
import { sendWithin } from './insist.ts';

/** One purchase: one request, one run, visible to who bought it, and paid once or not at all. */
export async function checkDeal(facts: Facts, deal: Deal): Promise<void> {
  const { world, byMark } = facts;
  const rows = byMark.get(deal.mark) ?? [];
  const wrong = (what: string) => world.tally.violation(`${deal.kind} ${deal.mark}: ${what}`);
  if (rows.length > deal.requests) wrong(`${rows.length} requests for one purchase of ${deal.requests}`);
  if (deal.ids.size > 1) wrong(`answered with several ids: ${[...deal.ids].join(', ')}`);
  for (const agent of world.agents) {
    const keys = agent.keysOf.get(deal.mark) ?? new Set();
    if (keys.size > 1) wrong(`run ${keys.size} times by ${agent.id}`);
    if (agent.alteredAnswers.has(deal.mark)) wrong(`another answer was sent to ${agent.id} under the same key`);
    for (const row of rows.filter(({ agentId }) => agentId === agent.id))
      if (row.status === 'completed' && !keys.has(row.id)) wrong('completed without having been run');
  }
  for (const id of deal.ids) await checkVisible(facts, deal, id, wrong);
  if (deal.payment) checkPaid(facts, deal, deal.payment, rows[0], wrong);
}

async function checkVisible({ world }: Facts, deal: Deal, id: string, wrong: (what: string) => void): Promise<void> {
  const path = deal.kind === 'bulk' ? `/invoke/bulk/${id}` : `/invoke/${id}`;
  const reader = deal.key === '' ? { headers: { 'x-result-token': deal.resultToken ?? '' } } : { key: deal.key };
  const { status, body } = await sendWithin(world.baseUrl(), 'GET', path, reader);
  if (status !== 200) return wrong(`${id} is acknowledged, and reads as ${status}`);
  const { data } = body;
  if (['pending', 'processing', 'input_required'].includes(data.status)) return wrong(`${id} is still ${data.status}`);
  if (deal.kind !== 'bulk' && data.status === 'completed' && data.result?.mark !== deal.mark)
    wrong(`${id} has the result of another: ${JSON.stringify(data.result)}`);
  world.tally.count('requests', `${deal.kind} ended ${data.status}`);
}

/** Completed: paid once, and kept, but for what an agent that bills directly left of the price. Ended otherwise: paid once and paid back once, or never paid. Not accepted: never paid. */
function checkPaid(
  facts: Facts,
  deal: Deal,
  payment: SignedPayment,
  row: RequestRow | undefined,
  wrong: (what: string) => void,
): void {
  const { world, timesUsed } = facts;
  const paid = timesUsed(payment);
  const nonce = row ? payoutNonce(world.ctx.chain.chainId, 'refund', row.id) : '';
  const back = timesUsed({ from: world.walletAddress, nonce });
  const told = `${row?.status ?? 'no request'}${row?.errorCode ? ` (${row.errorCode})` : ''}, paid ${paid} times, ${back} times back`;
  const isRight =
    row === undefined
      ? paid === 0
      : row.status === 'completed'
        ? paid === 1 && back === (row.billMicro === null ? 0 : 1)
        : paid === back && (paid === 1 || (paid === 0 && row.errorCode === 'payment_failed'));
  if (!isRight) wrong(told);
  if (deal.wasToldToPay && paid > 0) wrong(`told to pay after the money had moved: ${told}`);
}

export function checkDeposits({ book, world, timesUsed }: Facts): void {
  for (const { payment, outcome, client, told } of book.deposits) {
    const paid = timesUsed(payment);
    const isRight = outcome === 'credited' ? paid === 1 : outcome === 'refused' ? paid === 0 : paid <= 1;
    if (!isRight) world.tally.violation(`a deposit of ${client.name} was ${outcome}, and paid ${paid} times: ${told}`);
  }
}
