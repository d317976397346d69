import { LOCAL_CHAIN_ID, reputationRegistryByChain } from '@agent-network/chain/addresses';
import { reputationRegistryAbi } from '@agent-network/chain/reputation-registry-abi';
import { FeedbackFile } from '@agent-network/contracts/agents/feedback';
import { decodeFunctionData, keccak256, toBytes } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { feedbackOf } from '../../../src/agents/reputation/feedback-of.ts';
import { giveFeedback } from '../../../src/agents/reputation/give-feedback.ts';
import { settleBills } from '../../../src/calls/finish/settle-bills.ts';
import { createTill } from '../../support/billing-agent.ts';
import { submitPayment } from '../../support/chain-actions.ts';
import { type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { newClient } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { payV2 } from '../../support/x402-payer.ts';

let giver: string;
let h: Harness;
let owner: TestAccount;
let agent: TestAgent;
beforeAll(async () => {
  h = await startHarness({ registers: true });
  giver = h.ctx.registrar?.address ?? '';
  // What is planned stays as it was planned.
  await h.ctx.registryWriter.stop();
  owner = await h.newAccount();
  agent = await startTestAgent(h, { owner });
  await h.ctx.db.pool.query('update agent set token_id = 7 where id = $1', [agent.id]);
  await h.ctx.db.pool.query(
    `insert into registry_token (chain_id, token_id, owner, registered_by, uri, metadata, registered_block, registered_hash,
       changed_block, changed_index, uri_block, uri_index, uri_by) values ($1, 7, $2, $2, '', '{}', 1, '0x', 1, 0, 1, 0, $2)`,
    [LOCAL_CHAIN_ID, owner.address],
  );
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

async function payByWallet(key: string): Promise<{ requestId: string; hash: string; from: string }> {
  const wallet = await h.newWallet();
  const call = { key, body: { task: 'hello' }, headers: { 'x-sync': 'true', 'x-payment-method': 'x402' } };
  const unpaid = await h.request('POST', `/invoke/${agent.id}`, call);
  const headers = { ...call.headers, ...(await payV2(h, wallet, unpaid)) };
  const { body } = await h.request('POST', `/invoke/${agent.id}`, { ...call, headers });
  return { requestId: body.data.requestId, hash: body.data.paymentHash, from: wallet.address.toLowerCase() };
}

const writeOf = async (requestId: string) =>
  (await h.ctx.db.pool.query('select * from registry_write where subject_id = $1', [requestId])).rows[0] ?? null;

const untilEmpty = async (table: string): Promise<void> => {
  const isEmpty = async () =>
    (await h.ctx.db.pool.query(`select where not exists (select from ${table})`)).rows[0] ?? null;
  await until(isEmpty);
};
const untilCounted = () => untilEmpty('outcome_due');

/** Waits until all outcomes are counted, and judged whether they are feedback. */
async function untilJudged(): Promise<void> {
  await untilCounted();
  await untilEmpty('feedback_due');
}

describe('feedback to the shared registry', () => {
  it('is planned for a call paid on chain, with the proof of its payment in a file that has the hash', async () => {
    const { requestId, hash, from } = await payByWallet((await h.newAccount()).key);
    await untilJudged();
    const write = await writeOf(requestId);
    expect(write).toMatchObject({
      kind: 'feedback',
      state: 'due',
      target: reputationRegistryByChain[LOCAL_CHAIN_ID].toLowerCase(),
    });
    const { functionName, args } = decodeFunctionData({ abi: reputationRegistryAbi, data: write.data });
    const uri = `${h.baseUrl}/agents/${agent.id}/feedback/${requestId}.json`;
    const text = await (await fetch(uri)).text();
    expect(functionName).toBe('giveFeedback');
    expect(args).toEqual([
      ...[7n, 100n, 0, 'successRate', 'paid', `${h.baseUrl}/invoke/${agent.id}`, uri],
      keccak256(toBytes(text)),
    ]);
    const file = FeedbackFile.parse(JSON.parse(text));
    expect(file).toMatchObject({ agentId: 7, clientAddress: `eip155:${LOCAL_CHAIN_ID}:${giver}`, value: 100 });
    expect(file.proofOfPayment).toEqual({
      fromAddress: from,
      toAddress: h.ctx.chain.wallet.toLowerCase(),
      chainId: LOCAL_CHAIN_ID,
      txHash: hash,
    });
  });

  it('is none for what the owner paid, and for what a treasury paid, which has no payment of its own on chain', async () => {
    const own = await payByWallet(owner.key);
    const client = await newClient(h, '1.00');
    const call = { key: client.key, body: { task: 'x' }, headers: { 'x-sync': 'true' } };
    const paid = await h.request('POST', `/invoke/${agent.id}`, call);
    await untilJudged();
    for (const { requestId } of [own, paid.body.data]) {
      expect(await writeOf(requestId)).toBe(null);
      expect((await fetch(`${h.baseUrl}/agents/${agent.id}/feedback/${requestId}.json`)).status).toBe(404);
    }
  });

  it('waits for the bill of an agent that fails first and collects later, and is 0', async () => {
    const client = await newClient(h, '1.00');
    const till = createTill(h);
    agent.behave(till.bill({ amountMicro: 1000n, collects: 'never', work: answerWith(500, {}) }));
    const call = { key: client.key, body: { task: 'x' }, headers: { 'x-sync': 'true' } };
    const { requestId } = (await h.request('POST', `/invoke/${agent.id}`, call)).body.data;
    agent.behave(echo);
    await untilCounted();
    await giveFeedback(h.ctx);
    await submitPayment(h.rpcUrl, h, { 'payment-signature': till.shown[0] ?? '' });
    await settleBills(h.ctx);
    await untilJudged();
    const write = await writeOf(requestId);
    expect(write).toMatchObject({ kind: 'feedback', state: 'due' });
    expect(decodeFunctionData({ abi: reputationRegistryAbi, data: write.data }).args?.[1]).toBe(0n);
    const file = await fetch(`${h.baseUrl}/agents/${agent.id}/feedback/${requestId}.json`);
    expect(await file.json()).toMatchObject({ value: 0, proofOfPayment: { toAddress: till.address.toLowerCase() } });
  });

  it('is 0 for a failed call of whom the agent names as its owner, and none for what that one praises', async () => {
    const critic = await h.newAccount();
    const name = ({ address }: TestAccount) =>
      h.ctx.db.pool.query('update agent set owner_address = $2 where id = $1', [agent.id, address.toLowerCase()]);
    await name(critic);
    const praise = await payByWallet(critic.key);
    agent.behave(answerWith(500, {}));
    const complaint = await payByWallet(critic.key);
    agent.behave(echo);
    await untilJudged();
    await name(owner);
    expect(await writeOf(praise.requestId)).toBe(null);
    expect(
      decodeFunctionData({ abi: reputationRegistryAbi, data: (await writeOf(complaint.requestId)).data }).args?.[1],
    ).toBe(0n);
  });

  it('is none for what the owner paid, when the agent is removed before it is judged', async () => {
    const { requestId } = await payByWallet(owner.key);
    await untilJudged();
    const setStatus = (status: string) =>
      h.ctx.db.pool.query('update agent set status = $2 where id = $1', [agent.id, status]);
    await setStatus('removed');
    await h.ctx.db.pool.query('insert into feedback_due (request_id) values ($1)', [requestId]);
    await untilJudged();
    await setStatus('online');
    expect(await writeOf(requestId)).toBe(null);
  });
});

describe('an outcome is left out, with the reason', () => {
  const facts = {
    ...{ requestId: 'req_1', agentId: 'agt_1', accountId: 'acc_1', isGood: false, endedAt: new Date(0) },
    ...{ tokenId: 7n, tokenOwner: '0xabc', owner: { accountId: 'acc_2', address: '0xabc' } },
    ...{ payment: { from: '0x1', to: '0x2', hash: '0x3' } },
  };
  const place = { chainId: 1, identityRegistry: '0x8', giver: '0xGIVER', baseUrl: 'https://node.example' };
  it.each([
    ['not_registered', { ...facts, tokenId: null }, false],
    ['unclaimed', { ...facts, tokenOwner: '0xgiver' }, false],
    ['not_on_chain', { ...facts, payment: null }, false],
    ['tied', facts, true],
  ] as const)('%s', (reason, each, isTied) => {
    expect(feedbackOf(each, isTied, place)).toEqual({ kind: 'left_out', reason });
  });

  it('otherwise it is worth 100 or 0', () => {
    expect(feedbackOf(facts, false, place)).toMatchObject({ kind: 'given', file: { value: 0 } });
    expect(feedbackOf({ ...facts, isGood: true }, false, place)).toMatchObject({ kind: 'given', file: { value: 100 } });
  });
});
