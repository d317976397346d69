import { callChain } from '@agent-network/chain/chain-rpc-client';
import { usdcAbi } from '@agent-network/chain/usdc-abi';
import { parseUsdc } from '@agent-network/contracts/money';
import { encodeFunctionData, type Hex, zeroAddress } from 'viem';
import { until } from '../../../src/lib/concurrency/until.ts';
import { askDatabase, walletByBooks } from '../../support/books.ts';
import { earningOf, isPaidOut } from './audit-bills.ts';
import type { Deal, SignedPayment } from './bank-book.ts';
import { type Facts, sum } from './bank-facts.ts';
import { type BankClient, type BankScene, FUNDS_MICRO, WALLET_MICRO } from './bank-world.ts';
import { sendWithin } from './insist.ts';
import { tokenTransfers } from './token-transfers.ts';

/** Checks that the client's money, on chain and at the node, is its initial money less its purchases. Returns the node's debt to it. */
export async function checkClient(facts: Facts, client: BankClient): Promise<bigint> {
  const { world, book, requests, timesUsed } = facts;
  const plain = facts.sentPlainly(client);
  const wrong = (what: string) => world.tally.violation(`${client.name}: ${what}`);
  const paid = ({ payment }: { payment?: SignedPayment }) =>
    payment && timesUsed(payment) > 0 ? payment.valueMicro : 0n;
  const deposited = sum(book.deposits.filter((each) => each.client === client).map(paid));
  const spent = sum(
    requests.filter(({ payer }) => payer === client.treasuryId).map(({ costMicro }) => BigInt(costMicro)),
  );
  const withdrawn = await checkWithdrawals(facts, client);
  const has = (await sendWithin(world.baseUrl(), 'GET', '/payments/balance', { key: client.key })).body.data;
  const expected = FUNDS_MICRO + deposited + plain - spent - withdrawn;
  const suspense = await suspenseOf(world, client);
  if (parseUsdc(has.available) + suspense !== expected)
    wrong(`has ${has.available}, ${suspense} in suspense, and should have ${expected} micro-USDC`);
  if (has.held !== '0.00') wrong(`${has.held} is still held`);

  const deals = book.deals.filter(({ key, payment }) => key === client.key && payment);
  const refunded = sum(deals.map((deal) => refundOf(facts, deal)));
  const wallet = await world.usdcOf(client.wallet.address);
  const inWallet = WALLET_MICRO - sum(deals.map(paid)) - deposited - plain + refunded;
  if (wallet !== inWallet) wrong(`its wallet holds ${wallet}, and should hold ${inWallet}`);
  return expected;
}

/** Money that its wallet sent and that is not claimed yet. */
async function suspenseOf(world: BankScene, { wallet }: BankClient): Promise<bigint> {
  const id = `suspense:${wallet.address.toLowerCase()}`;
  const [row] = await askDatabase<{ micro: string }>(
    world.databaseUrl,
    'select posted_micro::text as micro from ledger_account where id = $1',
    [id],
  );
  return BigInt(row?.micro ?? 0);
}

/** Refunded amount: the price less the bill of an agent that bills directly, and that bill if it was collected but its work failed. */
function refundOf(facts: Facts, { mark, payment }: Deal): bigint {
  const row = facts.byMark.get(mark)?.[0];
  if (!row || !payment) return 0n;
  const bill = BigInt(row.billMicro ?? 0);
  const refund = isPaidOut(facts, 'refund', row) ? payment.valueMicro - bill : 0n;
  return refund + (isPaidOut(facts, 'return', row) ? bill : 0n);
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

/** Checks that agents have the cost of their completed work, less their own purchases. */
export async function checkAgents(facts: Facts): Promise<bigint> {
  const { world, requests } = facts;
  const { body } = await sendWithin(world.baseUrl(), 'GET', '/payments/balance', { key: world.owner.key });
  const treasuries: { treasuryId: string; agentId: string | null; available: string; held: string }[] =
    body.data.treasuries;
  const expected = treasuries.map(({ treasuryId, agentId, available, held }) => {
    const bought = requests.filter((row) => row.payer === treasuryId).map(({ costMicro }) => BigInt(costMicro));
    const earned = requests.filter((row) => row.agentId === agentId).map((row) => earningOf(facts, row));
    const should = sum(earned) - sum(bought);
    // Held is what vouchers owe and is not claimed.
    if (parseUsdc(available) + parseUsdc(held) !== should)
      world.tally.violation(`agent ${agentId} has ${available}, ${held} held, and should have ${should} micro-USDC`);
    return should;
  });
  return sum(expected);
}

/** The node says of itself what we found. */
export async function checkReserves(world: BankScene): Promise<void> {
  const read = async () => {
    const { status, body } = await sendWithin(world.baseUrl(), 'GET', '/payments/reserves', {});
    return status === 200 ? body.data.status : null;
  };
  const isBalanced = async () => ((await read()) === 'balanced' ? true : null);
  if (!(await until(isBalanced, { timeoutMs: 5000, firstMs: 100, maxMs: 500 })))
    world.tally.violation(`the reserves say ${await read()} of themselves`);
}

/** Checks that the node's wallet equals the books, and its debts to clients and agents less the debts of channels. */
export async function checkWallet(world: BankScene, owed: bigint): Promise<void> {
  const holds = async () => world.usdcOf(world.walletAddress);
  await until(async () => ((await holds()) === owed ? true : null), { timeoutMs: 2000, firstMs: 50, maxMs: 500 });
  const [onChain, booked] = [await holds(), await walletByBooks(world.databaseUrl)];
  if (onChain !== booked) world.tally.violation(`the wallet holds ${onChain} on chain, and ${booked} by the books`);
  if (onChain !== owed) world.tally.violation(`the wallet holds ${onChain} on chain, and the node owes ${owed}`);
}

/**
 * Checks, as of one block, that each address holds what the token's logs say it received less what it sent: otherwise the chain contradicts
 * itself. Returns whether it does.
 */
export async function checkToken(world: BankScene): Promise<boolean> {
  const { rpcUrl } = world.chain;
  const { token } = world.ctx.chain;
  const toBlock = await callChain<Hex>(rpcUrl, 'eth_blockNumber');
  const holdings = new Map<string, bigint>();
  const add = (address: string, micro: bigint) => holdings.set(address, (holdings.get(address) ?? 0n) + micro);
  for (const { from, to, valueMicro } of await tokenTransfers(rpcUrl, token, { toBlock })) {
    add(from, -valueMicro);
    add(to, valueMicro);
  }
  holdings.delete(zeroAddress);
  let isSound = true;
  for (const [address, micro] of holdings) {
    const data = encodeFunctionData({ abi: usdcAbi, functionName: 'balanceOf', args: [address as Hex] });
    const holds = BigInt(await callChain<Hex>(rpcUrl, 'eth_call', { to: token, data }, toBlock));
    if (holds === micro) continue;
    isSound = false;
    world.tally.violation(`${address} holds ${holds} in block ${Number(toBlock)}, and ${micro} by the token's logs`);
  }
  return isSound;
}
