import { scopes } from '@agent-network/contracts/access/scopes';
import type { Page } from 'playwright-core';
import { generatePrivateKey } from 'viem/accounts';
import { issueApiKey } from '../../../service/src/accounts/keys/manage-keys.ts';
import { openAccount } from '../../../service/src/accounts/open-account.ts';
import { type Harness, newWallet } from '../../../service/test/support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../../service/test/support/test-agent.ts';
import { deposit, untilEnded } from '../../../service/test/support/treasury.ts';
import { newVoucherPayer } from '../../../service/test/support/voucher-payer.ts';
import { hostileText } from './hostile.ts';
import { walletOf } from './test-wallet.ts';
import { signInWithWallet, type World } from './world.ts';

/** A name that is read from right to left. */
const RIGHT_TO_LEFT = 'مترجم الوثائق';

export interface Populated {
  /** Page of a signed-in operator with a bit of every kind of data. */
  readonly page: Page;
  readonly key: string;
  readonly agent: TestAgent;
  /** How the name of another owner's agent begins; no other agent's does. */
  readonly othersName: string;
  /** Every view of the dashboard with something in it, by name. */
  readonly views: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** An account that has done everything once: agents, calls, bulk, a channel, payments, webhooks, keys. */
export async function populate(world: World): Promise<Populated> {
  const { h } = world;
  const privateKey = generatePrivateKey();
  const account = await newWallet(h.rpcUrl, h.ctx.chain.token, 50_000_000n, privateKey);
  const address = account.address.toLowerCase();
  const { accountId } = await openAccount(h.ctx, { address, plan: 'enterprise', isWalletProven: true });
  const { apiKey: key } = await issueApiKey(h.ctx, { accountId, name: 'of everything', scopes, expiresAt: null });
  const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await h.request(method, path, { key, headers, ...(body === undefined ? {} : { body }) });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  };
  const owner = { key, accountId, address };
  // The node has agents of other files too, some of which answer no more.
  const othersName = `Echo${address.slice(2, 10)}`;
  const [agent, other] = await Promise.all([
    startTestAgent(h, { owner, name: RIGHT_TO_LEFT, capabilities: ['translation'], perRequest: '0.05' }),
    startTestAgent(h, {
      name: `${othersName} ${hostileText}`.slice(0, 100),
      capabilities: ['translation'],
      perRequest: '0.05',
    }),
  ]);
  const channelId = await openChannel(h, privateKey, other.id);
  const { treasuryId } = await ask('POST', '/payments/treasury', {});
  await deposit(h, key, treasuryId, '5');
  const { webhookId } = await ask('POST', '/account/webhooks', { url: `${h.baseUrl}/no-receiver` });
  const call = async (to: TestAgent, body: object) => (await ask('POST', `/invoke/${to.id}`, body)).requestId as string;
  agent.behave(echo);
  const requestId = await call(agent, { task: 'translate this', input: { pages: 2 } });
  other.behave(answerWith(500, { error: { message: 'out of order' } }));
  const failed = await call(other, { task: 'fails' });
  await Promise.all([requestId, failed].map((id) => untilEnded(h, key, id)));
  other.behave(echo);
  const bulk = await ask('POST', '/invoke/bulk', { task: 'for both', agents: [agent.id, other.id] });
  await ask('POST', `/account/webhooks/${webhookId}/test`);
  const { withdrawalId } = await ask('POST', '/payments/withdraw', { amount: '0.10', treasuryId });
  const page = (await world.newPage({ wallet: walletOf(account, h.rpcUrl) })).page;
  await signInWithWallet(page);
  const tabs = (path: string, names: readonly string[]) => names.map((name) => [name, `${path}?tab=${name}`] as const);
  return {
    page,
    key,
    agent,
    othersName,
    views: {
      overview: '/',
      explore: '/explore',
      'explore-task': '/explore?text=translation',
      ...named('agent', tabs(`/explore/${other.id}`, ['overview', 'try', 'health', 'reputation', 'identity'])),
      agents: '/agents',
      'agents-new': '/agents/new',
      ...named(
        'own',
        tabs(`/agents/${agent.id}`, ['verification', 'test', 'earnings', 'calls', 'failures', 'settings']),
      ),
      invocations: '/invocations',
      invocation: `/invocations/${requestId}`,
      'invocation-failed': `/invocations/${failed}`,
      bulk: `/bulk/${bulk.bulkId}`,
      ...named('payments', tabs('/payments', ['treasuries', 'channels', 'history', 'reserves'])),
      treasury: `/payments/treasuries/${treasuryId}`,
      channel: `/payments/channels/${channelId}`,
      withdrawal: `/payments/withdrawals/${withdrawalId}`,
      usage: '/usage',
      keys: '/keys',
      'keys-new': '/keys?new=true',
      'keys-withdrawal': '/keys?new=withdrawal',
      webhooks: '/webhooks',
      'webhooks-new': '/webhooks?new=true',
      webhook: `/webhooks/${webhookId}`,
      'webhook-account': '/webhooks/account',
      network: '/network',
      account: '/account',
      'account-audit': '/account?tab=audit',
      operator: '/operator',
      'operator-money': '/operator?tab=money',
      'operator-accounts': '/operator?tab=accounts&sort=spent',
      'operator-invocation': `/operator?invocation=${failed}`,
      missing: '/no-such-page',
    },
    async stop() {
      await Promise.all([agent.die(), other.die()]);
    },
  };
}

const named = (noun: string, tabs: readonly (readonly [string, string])[]) =>
  Object.fromEntries(tabs.map(([name, path]) => [`${noun}-${name}`, path]));

/** A channel of the wallet that has paid one call. */
async function openChannel(h: Harness, key: `0x${string}`, agentId: string): Promise<string> {
  const payer = newVoucherPayer(h, { key });
  const pay = (headers: Record<string, string> = {}) =>
    h.request('POST', `/x402/${agentId}`, {
      body: { task: 'by voucher' },
      headers: { 'x-payment-scheme': 'batch-settlement', ...headers },
    });
  const payload = await payer.deposit(500_000n);
  await pay(payer.pay(await pay(), 50_000n, { payload }));
  return payer.channelId;
}
