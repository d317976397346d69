import { parseUsdc } from '@agent-network/contracts/money';
import { until } from '../../src/lib/until.ts';
import { payoutNonce } from '../../src/payments/x402/node-wallet.ts';
import { walletByBooks } from '../support/books.ts';
import type { Deal, SignedPayment } from './bank-book.ts';
import { type Facts, type RequestRow, sum } from './bank-facts.ts';
import { type BankClient, type BankWorld, FUNDS_MICRO, WALLET_MICRO } from './bank-world.ts';
import { sendWithin } from './insist.ts';

/** What the client has left, on chain and with the node, is what it had less what it bought. Answers what the node owes it. */
export async function checkClient(facts: Facts, client: BankClient): Promise<bigint> {
  const { world, book, requests, timesUsed } = facts;
  const wrong = (what: string) => world.tally.violation(`${client.name}: ${what}`);
  const paid = ({ payment }: { payment?: SignedPayment }) =>
    payment && timesUsed(payment) > 0 ? payment.valueMicro : 0n;
  const deposited = sum(book.deposits.filter((each) => each.client === client).map(paid));
  const spent = sum(
    requests.filter(({ payer }) => payer === client.treasuryId).map(({ costMicro }) => BigInt(costMicro)),
  );
  const withdrawn = await checkWithdrawals(facts, client);
  const has = (await sendWithin(world.baseUrl(), 'GET', '/payments/balance', { key: client.key })).body.data;
  const expected = FUNDS_MICRO + deposited - spent - withdrawn;
  if (parseUsdc(has.available) !== expected) wrong(`has ${has.available}, and should have ${expected} micro-USDC`);
  if (has.held !== '0.00') wrong(`${has.held} is still held`);

  const deals = book.deals.filter(({ key, payment }) => key === client.key && payment);
  const refunded = sum(deals.map((deal) => refundOf(facts, deal)));
  const wallet = await world.usdcOf(client.wallet.address);
  const inWallet = WALLET_MICRO - sum(deals.map(paid)) - deposited + refunded;
  if (wallet !== inWallet) wrong(`its wallet holds ${wallet}, and should hold ${inWallet}`);
  return expected;
}

function refundOf({ world, byMark, timesUsed }: Facts, { mark, payment }: Deal): bigint {
  const row = byMark.get(mark)?.[0];
  if (!row || !payment) return 0n;
  const nonce = payoutNonce(world.ctx.chain.chainId, 'refund', row.id);
  return timesUsed({ from: world.walletAddress, nonce }) > 0 ? payment.valueMicro : 0n;
}

/** Each goes to an address of its own, which has all of it or, when it failed or was refused, nothing. Answers what left. */
async function checkWithdrawals({ world, book }: Facts, client: BankClient): Promise<bigint> {
  let left = 0n;
  for (const { to, amountMicro, id } of book.withdrawals.filter((each) => each.client === client)) {
    const arrived = await world.usdcOf(to);
    left += arrived;
    const path = `/payments/withdrawals/${id}`;
    const read = id === null ? null : await sendWithin(world.baseUrl(), 'GET', path, { key: client.key });
    const status = read === null ? 'refused' : read.body.data?.status;
    const isRight = arrived === (status === 'confirmed' ? amountMicro : 0n) && status !== 'pending';
    if (!isRight) world.tally.violation(`a withdrawal of ${amountMicro} is ${status}, and ${arrived} arrived`);
  }
  return left;
}

/** Agents have what their completed work cost, less what they bought of each other. */
export async function checkAgents({ world, requests }: Facts): Promise<bigint> {
  const { body } = await sendWithin(world.baseUrl(), 'GET', '/payments/balance', { key: world.owner.key });
  const treasuries: { treasuryId: string; agentId: string | null; available: string }[] = body.data.treasuries;
  const expected = treasuries.map(({ treasuryId, agentId, available }) => {
    const cost = (rows: readonly RequestRow[]) => sum(rows.map(({ costMicro }) => BigInt(costMicro)));
    const should =
      cost(requests.filter((row) => row.agentId === agentId)) -
      cost(requests.filter((row) => row.payer === treasuryId));
    if (parseUsdc(available) !== should)
      world.tally.violation(`agent ${agentId} has ${available}, and should have ${should} micro-USDC`);
    return should;
  });
  return sum(expected);
}

/** The node says of itself what we found. */
export async function checkReserves(world: BankWorld): Promise<void> {
  const read = async () => {
    const { status, body } = await sendWithin(world.baseUrl(), 'GET', '/payments/reserves', {});
    return status === 200 ? body.data.status : null;
  };
  const isBalanced = async () => ((await read()) === 'balanced' ? true : null);
  if (!(await until(isBalanced, { timeoutMs: 5000, firstMs: 100, mostMs: 500 })))
    world.tally.violation(`the reserves say ${await read()} of themselves`);
}

/** The node's wallet has what the books say, and that is what it owes to clients and agents. */
export async function checkWallet(world: BankWorld, owed: bigint): Promise<void> {
  const holds = async () => world.usdcOf(world.walletAddress);
  await until(async () => ((await holds()) === owed ? true : null), { timeoutMs: 2000, firstMs: 50, mostMs: 500 });
  const [onChain, booked] = [await holds(), await walletByBooks(world.databaseUrl)];
  if (onChain !== booked) world.tally.violation(`the wallet holds ${onChain} on chain, and ${booked} by the books`);
  if (onChain !== owed) world.tally.violation(`the wallet holds ${onChain} on chain, and the node owes ${owed}`);
}
