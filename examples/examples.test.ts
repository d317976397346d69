import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLocal } from '../packages/service/test/support/local-node.ts';
import { run as invokeAsync } from './invoke-async.ts';
import { run as payAsV1Client } from './pay-as-v1-client.ts';
import { run as payWithX402Fetch } from './pay-with-x402-fetch.ts';
import { run as runYourOwnAgent } from './run-your-own-agent.ts';

let node: Awaited<ReturnType<typeof startLocal>>;
beforeAll(async () => {
  node = await startLocal();
});
afterAll(() => node.stop());

describe('every example does what it claims against a running node', () => {
  it.each([
    ['pay-with-x402-fetch', payWithX402Fetch],
    ['pay-as-v1-client', payAsV1Client],
    ['invoke-async', invokeAsync],
    ['run-your-own-agent', runYourOwnAgent],
  ])(
    '%s',
    async (_name, run) => {
      await expect(run(node.local)).resolves.toBeUndefined();
    },
    60_000,
  );
});
