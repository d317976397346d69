import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { formatUsdc } from '@agent-network/contracts/money';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { paymentIn } from '../../support/chain-actions.ts';
import type { Answer } from '../../support/harness.ts';
import { payV1, payV2 } from '../../support/x402-payer.ts';
import { type Act, type Acting, ask, askPerhapsTwice, bodyOf, codeOf, openDeal, recordAnswers } from './acting.ts';
import type { BankBook, Deal, SignedPayment } from './bank-book.ts';
import { callByChannel, refundPart, withdrawFromChannel } from './channel-acts.ts';

/** Acts of a client, with their relative frequency. */
const ACTS = {
  callFromTreasury: 30,
  callByX402: 30,
  callByChannel: 30,
  depositMore: 8,
  withdrawSome: 7,
  callAgentToAgent: 8,
  callAndCancel: 8,
  callBulk: 9,
  callThatAsks: 12,
  sendPlainly: 8,
  claimItsWallet: 2,
  refundPart: 3,
  withdrawFromChannel: 1,
} as const;

/** One act of a client. What comes of it is counted; that it is never answered is a violation. */
export async function actOnce(acting: Acting): Promise<void> {
  const { world, client, random } = acting;
  const name = random.weighted(ACTS);
  try {
    world.tally.count('requests', `${name}: ${await acts[name](acting)}`);
  } catch (error) {
    world.tally.count('requests', `${name}: never answered`);
    world.tally.violation(`${client.name}, ${name}: ${error instanceof Error ? error.message : error}`);
  }
}

/** An agent that asks does not bill: the first one does. */
const calledBy = ({ world, random }: Acting, more: object): string =>
  random.pick('interactive' in more ? world.agents.slice(1) : world.agents).id;

async function callFromTreasury(acting: Acting): Promise<string> {
  return buyFromTreasury(acting, openDeal(acting, 'treasury', acting.client.key), {});
}

async function buyFromTreasury(acting: Acting, deal: Deal, more: object): Promise<string> {
  const { client, random } = acting;
  const headers = { 'idempotency-key': deal.mark, 'x-sync': random.chance(0.5) ? 'true' : 'false' };
  const options = { key: client.key, headers, body: { ...bodyOf(acting, deal), ...more } };
  return recordAnswers(deal, await askPerhapsTwice(acting, `/invoke/${calledBy(acting, more)}`, options));
}

async function callAgentToAgent(acting: Acting): Promise<string> {
  const { world, random } = acting;
  const [caller, called] = [random.pick(world.agents), random.pick(world.agents)];
  const deal = openDeal(acting, 'agent to agent', caller.identityToken);
  const options = {
    key: caller.identityToken,
    headers: { 'idempotency-key': deal.mark, 'x-sync': 'true' },
    body: bodyOf(acting, deal),
  };
  return recordAnswers(deal, await askPerhapsTwice(acting, `/invoke/${called.id}`, options));
}

async function pay(
  { world, client, random }: Acting,
  unpaid: Answer,
): Promise<{ headers: Record<string, string>; payment: SignedPayment }> {
  const headers = await (random.chance(0.5) ? payV1 : payV2)(world, client.wallet, unpaid);
  const { from, nonce, valueMicro } = paymentIn(headers).authorization;
  return { headers, payment: { from, nonce, valueMicro } };
}

async function callByX402(acting: Acting): Promise<string> {
  return buyByX402(acting, openDeal(acting, 'x402', acting.client.key), {});
}

async function buyByX402(acting: Acting, deal: Deal, more: object): Promise<string> {
  const { client } = acting;
  const path = `/invoke/${calledBy(acting, more)}`;
  const body = { ...bodyOf(acting, deal), ...more };
  const options = { key: client.key, headers: { 'x-payment-method': 'x402' }, body };
  const unpaid = (await ask(acting, 'POST', path, options)).answer;
  if (unpaid.status !== 402) return `without payment ${codeOf(unpaid)}`;
  const { headers, payment } = await pay(acting, unpaid);
  deal.payment = payment;
  const insisted = await askPerhapsTwice(acting, path, { ...options, headers: { ...options.headers, ...headers } });
  deal.wasToldToPay = insisted.some(({ answers }) => answers.some(({ status }) => status === 402));
  return recordAnswers(deal, insisted);
}

/** Time that a question waits: some are never answered. */
const INPUT_TIMEOUT_S = 10;

/** A call of an agent that asks back. The client answers, declines or stays silent; an answer may go out twice. */
async function callThatAsks(acting: Acting): Promise<string> {
  const { client, random } = acting;
  const isByX402 = random.chance(0.5);
  const deal = openDeal(acting, isByX402 ? 'x402' : 'treasury', client.key);
  const more = { interactive: true, inputTimeout: INPUT_TIMEOUT_S, metadata: { mark: deal.mark, asks: 'true' } };
  const called = await (isByX402 ? buyByX402(acting, deal, more) : buyFromTreasury(acting, deal, more));
  const [id] = deal.ids;
  if (!id) return called;
  const record = await untilAskedOrEnded(acting, id);
  if (record.status !== 'input_required') return `${record.status} without a question`;
  if (random.chance(0.1)) return 'left without an answer';
  const action = random.chance(0.2) ? 'decline' : 'accept';
  const body = { inputId: record.inputRequest?.inputId, action, message: deal.mark };
  const [insisted] = await askPerhapsTwice(acting, `/invoke/${id}/input`, { key: client.key, body });
  return `${action}: ${insisted ? codeOf(insisted.answer) : ''}`;
}

async function untilAskedOrEnded(acting: Acting, id: string): Promise<RequestRecord> {
  for (;;) {
    const { answer } = await ask(acting, 'GET', `/invoke/${id}`, { key: acting.client.key });
    const record: RequestRecord = answer.body.data;
    if (!['pending', 'processing'].includes(record.status)) return record;
    await sleep(100);
  }
}

async function callAndCancel(acting: Acting): Promise<string> {
  const { world, client, random } = acting;
  const deal = openDeal(acting, 'treasury', client.key);
  const options = { key: client.key, headers: { 'idempotency-key': deal.mark }, body: bodyOf(acting, deal) };
  const called = recordAnswers(deal, [await ask(acting, 'POST', `/invoke/${random.pick(world.agents).id}`, options)]);
  const [id] = deal.ids;
  if (!id) return called;
  return codeOf((await ask(acting, 'POST', `/invoke/${id}/cancel`, { key: client.key })).answer);
}

async function callBulk(acting: Acting): Promise<string> {
  const { world, client, random } = acting;
  const agents = world.agents.filter(() => random.chance(0.6)).map(({ id }) => id);
  if (agents.length === 0) return 'no agents picked';
  const deal = openDeal(acting, 'bulk', client.key, agents.length);
  const strategy = random.pick(['first_success', 'all', 'majority'] as const);
  const body = { ...bodyOf(acting, deal), agents, strategy };
  const options = { key: client.key, headers: { 'idempotency-key': deal.mark }, body };
  return recordAnswers(deal, await askPerhapsTwice(acting, '/invoke/bulk', options));
}

async function depositMore(acting: Acting): Promise<string> {
  const { client, random, book } = acting;
  const path = '/payments/treasury/deposit';
  const options = { key: client.key, body: { amount: formatUsdc(BigInt(random.int(1, 200_000))) } };
  const unpaid = (await ask(acting, 'POST', path, options)).answer;
  if (unpaid.status !== 402) return `without payment ${codeOf(unpaid)}`;
  const { headers, payment } = await pay(acting, unpaid);
  const deposit: BankBook['deposits'][number] = { client, payment, outcome: 'unanswered', told: '' };
  book.deposits.push(deposit);
  const insisted = await askPerhapsTwice(acting, path, { ...options, headers });
  deposit.outcome = insisted.every(({ answer }) => answer.status === 200) ? 'credited' : 'refused';
  deposit.told = insisted
    .map(({ answers }) => answers.map((answer) => `${codeOf(answer)} ${answer.body.error?.message ?? ''}`).join(' > '))
    .join(' | ');
  return insisted.map(({ answer }) => codeOf(answer))[0] ?? '';
}

async function withdrawSome(acting: Acting): Promise<string> {
  const { client, random, book } = acting;
  const to = privateKeyToAddress(generatePrivateKey());
  const amountMicro = BigInt(random.int(1, 100_000));
  const withdrawal: BankBook['withdrawals'][number] = { client, to, amountMicro, id: null };
  book.withdrawals.push(withdrawal);
  const [insisted] = await askPerhapsTwice(acting, '/payments/withdraw', {
    key: client.key,
    headers: { 'idempotency-key': random.id() },
    body: { amount: formatUsdc(amountMicro), to },
  });
  if (insisted?.answer.status === 200) withdrawal.id = insisted.answer.body.data.withdrawalId;
  return insisted ? codeOf(insisted.answer) : '';
}

/** Sends a plain transfer without a request first; its wallet has no account until the client claims it. */
async function sendPlainly({ world, client, random, book }: Acting): Promise<string> {
  const transfer = await world.bankChain.sendPlainly(client.wallet, BigInt(random.int(1, 100_000)));
  book.plain.push({ client, transfer });
  return 'done';
}

async function claimItsWallet(acting: Acting): Promise<string> {
  const { client, random } = acting;
  const path = '/payments/claims';
  const asked = (await ask(acting, 'POST', path, { key: client.key, body: { address: client.wallet.address } })).answer;
  if (asked.status !== 200) return codeOf(asked);
  const { challengeId, message } = asked.body.data;
  const body = { challengeId, signature: await client.wallet.signMessage({ message }) };
  const headers = { 'idempotency-key': random.id() };
  return codeOf((await ask(acting, 'POST', path, { key: client.key, headers, body })).answer);
}

const acts: Record<keyof typeof ACTS, Act> = {
  callFromTreasury,
  callByX402,
  callByChannel,
  depositMore,
  withdrawSome,
  callAgentToAgent,
  callAndCancel,
  callBulk,
  callThatAsks,
  sendPlainly,
  claimItsWallet,
  refundPart,
  withdrawFromChannel,
};
