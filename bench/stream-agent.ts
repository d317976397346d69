/** An agent that streams as slowly as its caller asks; a process of its own. Prints its id once it is online. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@agent-network/sdk';
import { AgentError, serveAgent } from '@agent-network/sdk/agent';
import { monotonicUs } from './monotonic.ts';
import { gateOpened, type StreamPlan } from './stream-plan.ts';

interface Settings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly tokenFile: string;
  readonly perRequest?: string;
}

const { baseUrl, apiKey, tokenFile, perRequest = '0' } = JSON.parse(process.env.AGENT_SETTINGS ?? '{}') as Settings;
const rates = { perRequest };
const { agentId = '' } = await serveAgent({
  registerWith: { baseUrl, apiKey, tokenFile, name: 'Stream', capabilities: ['stream'], rates },
  async *handle({ input }) {
    const plan = input as unknown as StreamPlan;
    const { chunks, everyMs, text } = plan;
    if (plan.fails) throw new AgentError('FAILS_AS_ASKED', 'It fails, as it was asked to.');
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
