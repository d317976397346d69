import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { startSession } from '../../../../src/accounts/keys/manage-sessions.ts';
import { type Harness, send, startHarness, type TestAccount } from '../../../support/harness.ts';
import { insertHeldWithdrawal } from '../../../support/held-payout.ts';
import { registerOnChain } from '../../../support/registry-actions.ts';
import { answerWith, type Behaviour, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { deposit } from '../../../support/treasury.ts';
import { until } from '../../../support/until.ts';
import { newVoucherPayer } from '../../../support/voucher-payer.ts';
import { databaseDigest } from './database-digest.ts';

/** A node with one of everything that a call can name, belonging to `owner`; `stranger` owns an agent of its own. */
export interface World {
  readonly h: Harness;
  readonly owner: TestAccount;
  readonly stranger: TestAccount;
  /** An account that nothing else uses. */
  readonly bystander: TestAccount;
  readonly agent: TestAgent;
  readonly strangersAgent: TestAgent;
  /** The token that stands for the agent; the owner has linked it. */
  readonly tokenId: string;
  readonly quoteId: string;
  /** A completed request of the owner's, to the free agent of the stranger. */
  readonly requestId: string;
  /** A request that never ends. */
  readonly openRequestId: string;
  /** A request that waits for an answer, and its question. */
  readonly askingRequestId: string;
  readonly inputId: string;
  readonly bulkId: string;
  readonly keyId: string;
  readonly rolledKeyId: string;
  /** The owner's treasury for the agent; holds 1 USDC. */
  readonly treasuryId: string;
  readonly withdrawalId: string;
  /** A withdrawal of the owner's that the token refuses. */
  readonly heldPaymentId: string;
  /** A channel of the owner's wallet. */
  readonly channelId: string;
  /** Takes every delivery. */
  readonly receiverUrl: string;
  readonly webhookId: string;
  readonly spareWebhookId: string;
  readonly deliveryId: string;
  /** A file of the owner's. */
  readonly fileId: string;
  /** The content of a file that the owner has and the agent has. */
  readonly storedContent: { readonly sha256: string; readonly body: unknown };
  /** Signed challenges, each good for one sign-in of a wallet of its own. */
  readonly signIns: { readonly challengeId: string; readonly signature: string }[];
  /** A living session of the owner's. */
  readonly sessionId: string;
  stop(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  const h = await startHarness();
  try {
    return await furnish(h);
  } catch (error) {
    await h.stop();
    throw error;
  }
}

/** Asks first, and never ends. */
const asks: Behaviour = ({ body, headers }, response) => {
  if (!body.answers)
    answerWith(200, { status: 'input_required', input: { message: 'Which?' } })({ body, headers }, response);
};

/** Says of each call that a page of the node makes it: what else is refused of some, their own tests see. */
const fromOwnPage = (h: Harness): Harness => ({
  ...h,
  request: (method, path, options) =>
    send(h.baseUrl, method, path, { ...options, headers: { origin: h.baseUrl, ...options?.headers } }),
});

async function furnish(harness: Harness): Promise<World> {
  const h = fromOwnPage(harness);
  const bystander = await h.newAccount();
  const [owner, stranger, receiver] = await Promise.all([h.newAccount(), h.newAccount(), startReceiver()]);
  const [agent, strangersAgent, silent, asking] = await Promise.all([
    startTestAgent(h, { owner, perRequest: '0.05' }),
    startTestAgent(h, { owner: stranger, perRequest: '0', capabilities: ['testing', 'answering'] }),
    startTestAgent(h, { owner: stranger, perRequest: '0', behaviour: () => undefined }),
    startTestAgent(h, { owner: stranger, perRequest: '0', behaviour: asks }),
  ]);
  const made = await makeThings(h, owner, { agent, strangersAgent, silent, asking, receiverUrl: receiver.url });
  // Nobody else is to find it.
  await h.request('DELETE', `/agents/${asking.id}`, { key: stranger.key });
  strangersAgent.calls.length = 0;
  await untilQuiet(h);
  return {
    ...{ h, owner, stranger, bystander, agent, strangersAgent, receiverUrl: receiver.url },
    ...made,
    async stop() {
      await Promise.all([agent.die(), strangersAgent.die(), silent.die(), asking.die()]);
      await h.stop();
      await receiver.stop();
    },
  };
}

interface Parts {
  readonly agent: TestAgent;
  readonly strangersAgent: TestAgent;
  readonly silent: TestAgent;
  readonly asking: TestAgent;
  readonly receiverUrl: string;
}

async function makeThings(h: Harness, { accountId, key, address }: TestAccount, parts: Parts) {
  const { agent, strangersAgent, silent, asking, receiverUrl: url } = parts;
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await h.request('POST', path, { key, body, headers });
    if (answer.status !== 200) throw new Error(`POST ${path} answered ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  };
  const newWebhook = async () =>
    (await post('/account/webhooks', { url, eventTypes: ['withdrawal.confirmed'] })).webhookId as string;
  const tokenId = await registerOnChain(h.rpcUrl, address, 'https://agent.example/a.json');
  await h.ctx.registryReader.read();
  await post(`/identity/${agent.id}/link`, { tokenId });
  const { quoteId } = await post(`/invoke/${agent.id}/quote`, { task: 'hello' });
  const { requestId } = await post(`/invoke/${strangersAgent.id}`, { task: 'hello' }, { 'x-sync': 'true' });
  const { requestId: openRequestId } = await post(`/invoke/${silent.id}`, { task: 'hello' });
  const asked = { task: 'hello', interactive: true, inputTimeout: 86_000, deadline: new Date(Date.now() + 3_600_000) };
  const { requestId: askingRequestId, inputRequest } = await post(`/invoke/${asking.id}`, asked, { 'x-sync': 'true' });
  const { bulkId } = await post('/invoke/bulk', { task: 'hello', agents: [strangersAgent.id] });
  const { keyId } = await post('/account/keys', { name: 'spare' });
  const { keyId: rolledKeyId } = await post('/account/keys', { name: 'to be rolled' });
  const { treasuryId } = await post('/payments/treasury', { agentId: agent.id });
  await deposit(h, key, treasuryId, '1');
  const { withdrawalId } = await post('/payments/withdraw', { amount: '0.01', treasuryId, to: address });
  const heldPaymentId = await insertHeldWithdrawal(h, { accountId, treasuryId, to: address });
  const [webhookId, spareWebhookId] = [await newWebhook(), await newWebhook()];
  const { deliveryId } = await post(`/account/webhooks/${webhookId}/test`, undefined);
  const { fileId } = (await h.request('POST', '/files', { key, body: { content: "the owner's" } })).body.data;
  const storedContent = { body: { content: 'of both' }, sha256: '' };
  for (const each of [key, agent.identityToken]) {
    const { data } = (await h.request('POST', '/files', { key: each, body: storedContent.body })).body;
    storedContent.sha256 = data.fileId.replace('sha256:', '');
  }
  const channel = newVoucherPayer(h, { payer: address.toLowerCase() as `0x${string}` });
  await channel.fund(1_000_000n);
  const now = h.ctx.clock.now();
  const { session } = await h.ctx.db.transaction((tx) =>
    startSession(tx, { accountId, userAgent: null, isLocal: false, now }),
  );
  const signIns = await Promise.all(Array.from({ length: 20 }, () => signedChallenge(post)));
  return {
    ...{
      tokenId,
      fileId,
      storedContent,
      quoteId,
      requestId,
      openRequestId,
      askingRequestId,
      inputId: inputRequest.inputId,
      bulkId,
      keyId,
      rolledKeyId,
      treasuryId,
      withdrawalId,
      heldPaymentId,
    },
    ...{ channelId: channel.channelId, webhookId, spareWebhookId, deliveryId, signIns, sessionId: session.sessionId },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the node answers
async function signedChallenge(post: (path: string, body: unknown) => Promise<any>) {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const { challengeId, message } = await post('/auth/challenge', { address: wallet.address });
  return { challengeId: challengeId as string, signature: await wallet.signMessage({ message }) };
}

async function startReceiver() {
  const server = createServer((request, response) => {
    request.resume();
    response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Waits for what follows from the making in the background, so that nothing changes any more but by calls. */
async function untilQuiet(h: Harness): Promise<void> {
  let before = '';
  await until(async () => {
    const now = JSON.stringify(await databaseDigest(h));
    const isSame = now === before;
    before = now;
    return isSame;
  }, 500);
}
