import { setTimeout as sleep } from 'node:timers/promises';
import { batchSettlementAbi } from '@agent-network/chain/batch-settlement-abi';
import { encodeFunctionData } from 'viem';
import { SETTLEMENT_CONTRACT } from '../../../src/chain/channels/channel-calls.ts';
import type { Answer } from '../../support/harness.ts';
import { type Acting, ask, askPerhapsTwice, bodyOf, codeOf, openDeal, recordAnswers } from './acting.ts';
import { type BankChannel, type ChannelClient, configOf, learn, offerIn, refusalIn } from './bank-channels.ts';
import type { Random } from './random.ts';

/** How often a client pays again after it was corrected. */
const TURNS = 8;
const BUSY_MS = 200;

/** With a key, or as a wallet alone. */
export async function callByChannel(acting: Acting): Promise<string> {
  const { world, client, random } = acting;
  const isKeyless = random.chance(0.4);
  const path = `/${isKeyless ? 'x402' : 'invoke'}/${random.pick(world.agents).id}`;
  const deal = openDeal(acting, isKeyless ? 'keyless' : 'channel', isKeyless ? '' : client.key);
  const by = isKeyless ? {} : { key: client.key };
  const headers = { 'x-payment-scheme': 'batch-settlement', ...(isKeyless ? {} : { 'x-payment-method': 'x402' }) };
  const options = { ...by, headers, body: bodyOf(acting, deal) };
  let last = (await ask(acting, 'POST', path, options)).answer;
  if (last.status !== 402) return `without payment ${codeOf(last)}`;
  for (let turn = 0; turn < TURNS; turn++) {
    const channel = client.channel.current();
    const headers = { ...options.headers, ...(await payFor(channel, last, random)) };
    const insisted = await askPerhapsTwice(acting, path, { ...options, headers });
    const paid = insisted.find(({ answer }) => answer.status === 200)?.answer;
    if (paid) {
      for (const { answer } of insisted)
        if (answer.status !== 200)
          world.tally.violation(
            `paid by a voucher, and ${codeOf(answer)} (${answer.status === 402 ? refusalIn(answer) : ''}) to the same request`,
          );
      channel.deposit = null;
      learn(channel, paid);
      deal.resultToken = paid.body.data.resultToken;
      return recordAnswers(deal, insisted);
    }
    last = insisted.at(-1)?.answer ?? last;
    if (last.status !== 402) return codeOf(last);
    await adapt(client.channel, last);
  }
  return `given up: ${refusalIn(last)}`;
}

async function payFor(channel: BankChannel, unpaid: Answer, random: Random): Promise<Record<string, string>> {
  const price = BigInt(offerIn(unpaid).amount);
  const maxMicro = channel.sumMicro + price;
  if (maxMicro > channel.balanceMicro)
    channel.deposit ??= await channel.payer.deposit(price * BigInt(random.int(2, 8)));
  return channel.payer.pay(unpaid, maxMicro, channel.deposit ? { payload: channel.deposit } : {});
}

/** A payer's reaction to a refused voucher. */
async function adapt(client: ChannelClient, refused: Answer): Promise<void> {
  const channel = client.current();
  const isTold = learn(channel, refused);
  switch (refusalIn(refused)) {
    case 'cumulative_amount_mismatch':
    case 'cumulative_below_claimed':
      // Nothing is told to who shows a voucher that is public: it has to know a higher one.
      if (!isTold) channel.sumMicro += BigInt(offerIn(refused).amount);
      return;
    case 'missing_channel':
      return client.renew();
    case 'channel_not_found':
    case 'cumulative_exceeds_balance':
      channel.balanceMicro = channel.sumMicro;
      return;
    case 'channel_busy':
      await sleep(BUSY_MS);
      return;
    default:
      channel.deposit = null;
  }
}

/** Asks for a part of what is left, or for all of it; the channel goes on. */
export async function refundPart(acting: Acting): Promise<string> {
  const channel = acting.client.channel.current();
  const left = channel.balanceMicro - channel.sumMicro;
  if (left <= 0n) return 'nothing left';
  return refund(acting, channel, acting.random.chance(0.5) ? null : BigInt(acting.random.int(1, Number(left))));
}

/** Requests a refund like stock clients: by a GET without a key. */
export async function refund(
  acting: Pick<Acting, 'world'>,
  channel: BankChannel,
  amountMicro: bigint | null,
): Promise<string> {
  const path = `/invoke/${acting.world.agents[0]?.id}`;
  let last = (await ask(acting, 'GET', path, {})).answer;
  for (let turn = 0; turn < TURNS; turn++) {
    if (last.status !== 402) return codeOf(last);
    const payload = { type: 'refund', ...(amountMicro === null ? {} : { amount: String(amountMicro) }) };
    const headers = channel.payer.pay(last, channel.sumMicro, { payload });
    last = (await ask(acting, 'GET', path, { headers })).answer;
    const isTold = learn(channel, last);
    if (last.status === 200) return 'done';
    if (last.status !== 402) return codeOf(last);
    const reason = refusalIn(last);
    if (reason === 'channel_busy') await sleep(BUSY_MS);
    else if (reason !== 'cumulative_amount_mismatch' || !isTold) return reason;
  }
  return `given up: ${refusalIn(last)}`;
}

/** The payer begins to take its money back without the node, and opens another channel. */
export async function withdrawFromChannel({ world, client, random }: Acting): Promise<string> {
  const channel = client.channel.current();
  const left = channel.balanceMicro - channel.sumMicro;
  if (left <= 0n) return 'nothing left';
  const args = [configOf(channel), BigInt(random.int(1, Number(left)))] as const;
  const data = encodeFunctionData({ abi: batchSettlementAbi, functionName: 'initiateWithdraw', args });
  await world.bankChain.call(client.channel.wallet, SETTLEMENT_CONTRACT, data);
  client.channel.renew();
  return 'done';
}
