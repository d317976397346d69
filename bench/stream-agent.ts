/** An agent that streams as slowly as its caller asks; a process of its own. Prints its id once it is online. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@agent-network/sdk';
import { serveAgent } from '@agent-network/sdk/agent';
import { monotonicUs } from './monotonic.ts';
import { gateOpened, type StreamPlan } from './stream-plan.ts';

const { baseUrl, apiKey, tokenFile } = JSON.parse(process.env.AGENT_SETTINGS ?? '{}') as Record<
  'baseUrl' | 'apiKey' | 'tokenFile',
  string
>;
const rates = { perRequest: '0' };
const { agentId = '' } = await serveAgent({
  registerWith: { baseUrl, apiKey, tokenFile, name: 'Stream', capabilities: ['stream'], rates },
  async *handle({ input }) {
    const plan = input as unknown as StreamPlan;
    const { chunks, everyMs, text } = plan;
    await gateOpened(plan);
    // Not all at the same moment.
    await sleep(Math.random() * everyMs);
    for (let index = 0; index < chunks; index++) {
      if (everyMs > 0) await sleep(everyMs);
      yield { index, text, sentUs: monotonicUs() };
    }
    return 'end';
  },
});
const client = createClient({ baseUrl, apiKey });
while ((await client.getAgent({ params: { id: agentId } })).status !== 'online') await sleep(20);
console.log(`agent ${agentId}`);
