import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLocal } from '../packages/service/test/support/local-node.ts';
import { run as callWithoutAKey } from './call-without-a-key.ts';
import { run as findAndInvoke } from './find-and-invoke.ts';
import { run as invokeAsync } from './invoke-async.ts';
import { run as payAsV1Client } from './pay-as-v1-client.ts';
import { run as payWithChannel } from './pay-with-channel.ts';
import { run as payWithX402Fetch } from './pay-with-x402-fetch.ts';
import { readmeExamples, runReadmeExample } from './readme-examples.ts';
import { run as receiveWebhooks } from './receive-webhooks.ts';
import { run as runYourOwnAgent } from './run-your-own-agent.ts';
import { run as streamAnAnswer } from './stream-an-answer.ts';

let node: Awaited<ReturnType<typeof startLocal>>;
beforeAll(async () => {
  node = await startLocal();
});
afterAll(() => node.stop());

describe('every example does what it claims against a running node', () => {
  it.each([
    ['pay-with-x402-fetch', payWithX402Fetch],
    ['pay-as-v1-client', payAsV1Client],
    ['call-without-a-key', callWithoutAKey],
    ['pay-with-channel', payWithChannel],
    ['invoke-async', invokeAsync],
    ['find-and-invoke', findAndInvoke],
    ['run-your-own-agent', runYourOwnAgent],
    ['stream-an-answer', streamAnAnswer],
    ['receive-webhooks', receiveWebhooks],
  ])('%s', async (_name, run) => {
    await expect(run(node.local)).resolves.toBeUndefined();
  });
});

describe("every example in the SDK's README does what it claims", () => {
  const prints = {
    'Find an agent': /^\d+ agents; the cheapest is \S.* at 0\.\d+ USDC$/,
    'Invoke it and pay': /^completed for 0\.05 USDC, paid in 0x[0-9a-f]{64}$/,
    'Pay many calls with one deposit': /^0\.03 USDC spent, 0\.47 came back$/,
    'Let the node choose the agent':
      /^Text Analyst has the words [a-z, ]*summarise[a-z, ]*\ncompleted by agt_\w+, of \d+ that match$/,
    'Stream the answer': /^completed: \{ echo: \{ task: 'say hello', input: \{\} \} \}$/,
    'Receive webhooks': /^webhook\.test evt_\w+\nthe test event was delivered$/,
    'Run your own agent': /^serving agt_\w+ at http:\/\/127\.0\.0\.1:\d+\/$/,
  };

  it('and there are seven', () => expect(Object.keys(readmeExamples())).toEqual(Object.keys(prints)));

  it.each(Object.entries(prints))('%s', async (title, printed) => {
    expect(await runReadmeExample(node.local, readmeExamples()[title] ?? '')).toMatch(printed);
  });
});
