import { type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';

/** A node with one of everything that a call can name, belonging to `owner`; `stranger` owns an agent of its own. */
export interface World {
  readonly h: Harness;
  readonly owner: TestAccount;
  readonly stranger: TestAccount;
  readonly agent: TestAgent;
  readonly strangersAgent: TestAgent;
  readonly quoteId: string;
  /** A completed request of the owner's, paid to the free agent of the stranger. */
  readonly requestId: string;
  readonly keyId: string;
  readonly treasuryId: string;
  stop(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  const h = await startHarness();
  const [owner, stranger] = await Promise.all([h.newAccount(), h.newAccount()]);
  const [agent, strangersAgent] = await Promise.all([
    startTestAgent(h, { owner, perRequest: '0.05' }),
    startTestAgent(h, { owner: stranger, perRequest: '0' }),
  ]);
  const { key } = owner;
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) =>
    (await h.request('POST', path, { key, body, headers })).body.data;
  const { quoteId } = await post(`/invoke/${agent.id}/quote`, { task: 'hello' });
  const { requestId } = await post(`/invoke/${strangersAgent.id}`, { task: 'hello' }, { 'x-sync': 'true' });
  const { keyId } = await post('/account/keys', { name: 'spare' });
  const { treasuryId } = await post('/payments/treasury', { agentId: agent.id });
  strangersAgent.calls.length = 0;
  return {
    ...{ h, owner, stranger, agent, strangersAgent, quoteId, requestId, keyId, treasuryId },
    async stop() {
      await Promise.all([agent.die(), strangersAgent.die()]);
      await h.stop();
    },
  };
}
