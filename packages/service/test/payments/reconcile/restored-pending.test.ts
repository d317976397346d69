import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../../src/compose/local/free-port.ts';
import { silentLog } from '../../../src/lib/telemetry/log.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { askDatabase, contradictions, walletByBooks } from '../../support/books.ts';
import { paymentIn } from '../../support/chain-actions.ts';
import { leavePending } from '../../support/pending-request.ts';
import { createRestorableNode, type RestorableNode } from '../../support/restorable-node.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts';
import { untilEnded } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { payV2 } from '../../support/x402-payer.ts';

let node: RestorableNode;
let agent: TestAgent;
let lost: TestDatabase;
let restored: TestDatabase;
beforeAll(async () => {
  node = await createRestorableNode(await freePort(0));
  lost = await createTestDatabase();
  await node.startOn(lost.url);
  agent = await startTestAgent(node, { perRequest: '0.05' });
});
afterAll(async () => {
  await agent?.die();
  await node?.stop();
  await Promise.all([lost?.drop(), restored?.drop()]);
});

const isWhole = (address: string) => until(async () => (await node.usdcOf(address)) === 950_000n);

it('a request with a payment unsettled in the backup, and refunded on chain since, ends with its refund in the books', async () => {
  const { key } = await node.newAccount();
  const wallet = await node.newWallet(1_000_000n);
  const invoke = (headers: Record<string, string> = {}) =>
    node.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers });
  const first = await invoke(await payV2(node, wallet, await invoke()));
  expect(first.status).toBe(200);
  const signed = paymentIn(await payV2(node, wallet, await invoke()));
  const { chain } = node.ctx;
  await node.stopNode();
  const db = openDatabase(lost.url, { max: 1, log: silentLog });
  const left = { chain, worker: null, createdAt: new Date() };
  const { invocation } = await leavePending(db, first.body.data.requestId, signed, left);
  await db.close();
  restored = await createTestDatabase(lost);
  agent.behave(answerWith(400, { error: 'I can not do that' }));
  await node.startOn(lost.url);
  expect(await untilEnded(node, key, invocation.id)).toMatchObject({ status: 'failed' });
  expect(await isWhole(wallet.address)).toBe(true);
  const calls = agent.calls.length;
  await node.stopNode();
  await node.startOn(restored.url);
  expect(await untilEnded(node, key, invocation.id)).toMatchObject({ status: 'failed', refund: '0.05' });
  const refund = async () => {
    const [row] = await askDatabase<{ state: string }>(
      restored.url,
      "select state from chain_payment where subject_id = $1 and purpose = 'refund'",
      [invocation.id],
    );
    return row?.state === 'settled' ? row.state : null;
  };
  expect(await until(refund)).toBe('settled');
  expect(agent.calls).toHaveLength(calls);
  expect(await contradictions(restored.url)).toEqual([]);
  expect(await walletByBooks(restored.url)).toBe(await node.usdcOf(node.walletAddress));
});
