/** Runs a poet that answers word by word, follows it as a stream that is paid by x402, and loses the stream on purpose. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient, createPayer } from '@agent-network/sdk';
import { progress, serveAgent } from '@agent-network/sdk/agent';
import { firstWallet, type Local, runExample } from './local.ts';
import { untilOnline } from './until-online.ts';

const words = ['Bees ', 'dance, ', 'and ', 'others ', 'read ', 'the ', 'way.'];

const startPoet = (local: Local, tokenFile: string) =>
  serveAgent({
    registerWith: {
      baseUrl: local.baseUrl,
      apiKey: local.apiKey,
      tokenFile,
      name: 'Poet',
      description: 'Writes one line about bees, word by word.',
      capabilities: ['poetry'],
      rates: { perRequest: '0.01' },
    },
    async *handle() {
      for (const [index, word] of words.entries()) {
        yield word;
        await wait(20);
        if (index === 3) yield progress({ percent: 50 });
      }
    },
  });

export async function run(local: Local): Promise<void> {
  const payer = createPayer({ privateKey: firstWallet(local).privateKey, maxPerCall: '0.01' });
  const client = createClient({ baseUrl: local.baseUrl, apiKey: local.apiKey, payer });
  const folder = await mkdtemp(join(tmpdir(), 'poet-agent-'));
  const agent = await startPoet(local, join(folder, 'token.json'));
  const id = agent.agentId ?? '';
  try {
    await untilOnline(client, id);
    const heard: string[] = [];
    let last = { id: 0, requestId: '' };
    const headers = { 'x-payment-method': 'x402' } as const;
    for await (const event of client.invokeStreaming(id, { task: 'a line about bees' }, { headers })) {
      last = { id: event.id, requestId: event.data.requestId };
      if (event.type === 'invocation.chunk') heard.push(String(event.data.chunk));
      if (heard.length === 2) break;
    }

    for await (const event of client.stream(last.requestId, { after: last.id })) {
      assert.ok(event.id > last.id, 'no event comes twice');
      if (event.type === 'invocation.chunk') heard.push(String(event.data.chunk));
      if (event.type === 'invocation.status') assert.equal(event.data.percent, 50);
      if (event.type !== 'invocation.completed') continue;
      assert.equal(event.data.result, words.join(''));
      assert.equal(event.data.cost, '0.01');
    }
    assert.deepEqual(heard, words, 'every word was heard once and in order');
    console.log(`Heard "${heard.join('')}" in ${heard.length} pieces, with a pause after the second`);
  } finally {
    await client.removeAgent({ params: { id } });
    await agent.close();
    await rm(folder, { recursive: true });
  }
}

if (import.meta.main) await runExample(run);
