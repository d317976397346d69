import { fundWallets } from '@agent-network/chain/chain-funding';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { createPayer } from '@agent-network/sdk';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import type { Attack } from '../attack.ts';
import { type HostileAgent, startHostileAgent } from '../hostile-agent.ts';
import { type HostileAnswer, type HostileRequest, paced, type Sender } from '../send.ts';
import type { HostileAccount, Site } from '../site.ts';

const PER_SECOND = 3;
/** Says yes to every signature when it is asked for nothing (`eth_call`), and runs in a circle in a transaction. */
const TWO_FACED = '0x3a601457631626ba7e60e01b60005260206000f35b601456';

/** Makes the node send transactions that are worth nothing. */
export const gas: Attack = {
  does: `${PER_SECOND} a second: withdrawals of 0.01 and dust, deposits of dust, x402 calls of an own agent that fails, payments of wallets that burn gas`,
  async run(site, sender, begin) {
    const [withdrawing, failing, burning] = site.free;
    if (!withdrawing || !failing || !burning) throw new Error('too few accounts');
    const agent = await startHostileAgent(sender, {
      key: site.rich.apiKey,
      perRequest: '0.001',
      answer: (response) => void response.writeHead(500).end('{"error":"no"}'),
    });
    await sender.send({ method: 'POST', path: '/payments/treasury', key: withdrawing.apiKey, body: {} });
    begin();
    const deposited = await pay(sender, failing, deposit(withdrawing, '1.00'));
    const tally = { withdrawn: 0, dust: 0 };
    const acts = [
      () => withdraw(sender, withdrawing, '0.01', tally),
      () => dust(sender, withdrawing, tally),
      () => pay(sender, failing, callOf(agent, failing)),
      () => burn(site, sender, agent, burning),
    ];
    await paced({ perSecond: PER_SECOND, seconds: site.seconds, atOnce: 4 }, async (nth) =>
      acts[nth % acts.length]?.(),
    );
    agent.stop();
    return [
      { text: 'the first deposit was taken', held: deposited.status === 200 },
      { text: `at most 20 withdrawals were made (${tally.withdrawn})`, held: tally.withdrawn <= 20 },
      { text: `no deposit or withdrawal of dust was (${tally.dust})`, held: tally.dust === 0 },
    ];
  },
};

export const deposit = ({ apiKey: key }: HostileAccount, amount: string): HostileRequest => ({
  ...{ method: 'POST', path: '/payments/treasury/deposit', key },
  body: { amount },
});

const callOf = ({ id }: HostileAgent, { apiKey: key }: HostileAccount): HostileRequest => ({
  ...{ method: 'POST', path: `/invoke/${id}`, key, headers: { 'x-payment-method': 'x402' } },
  body: { task: 'x' },
});

/** Asks, and pays what the 402 asks for from the wallet of an account. */
export async function pay(
  sender: Sender,
  { privateKey }: Pick<HostileAccount, 'privateKey'>,
  asked: HostileRequest,
): Promise<HostileAnswer> {
  const terms = await sender.send(asked);
  const required = terms.headers['payment-required'];
  if (terms.status !== 402 || typeof required !== 'string') return terms;
  const payment = await createPayer({ privateKey, maxPerCall: '10' }).pay(required);
  return sender.send({ ...asked, headers: { ...asked.headers, ...payment } });
}

async function withdraw(sender: Sender, { apiKey: key }: HostileAccount, amount: string, tally: { withdrawn: number }) {
  const answer = await sender.send({ method: 'POST', path: '/payments/withdraw', key, body: { amount } });
  if (answer.status === 200) tally.withdrawn += 1;
  return answer;
}

async function dust(sender: Sender, account: HostileAccount, tally: { dust: number }): Promise<void> {
  const { apiKey: key } = account;
  const body = { amount: '0.000001' };
  const out = await sender.send({ method: 'POST', path: '/payments/withdraw', key, body });
  const into = await pay(sender, account, deposit(account, body.amount));
  tally.dust += [out, into].filter(({ status }) => status === 200).length;
}

/** Pays from a new wallet that signs like a key, with code that passes the node's checks and burns its gas. */
async function burn(
  { rpcUrl, usdc }: Site,
  sender: Sender,
  agent: HostileAgent,
  account: HostileAccount,
): Promise<void> {
  const privateKey = generatePrivateKey();
  const address = privateKeyToAddress(privateKey);
  await fundWallets(rpcUrl, usdc, [{ address, ethWei: 0n, usdcMicro: 10_000n }]);
  await callChain(rpcUrl, 'anvil_setCode', address, TWO_FACED);
  await pay(sender, { privateKey }, callOf(agent, account));
}
