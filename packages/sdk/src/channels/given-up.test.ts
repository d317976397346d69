import { expect, it } from 'vitest';
import { prefix } from '../../test/support/channel-node.ts';
import { call, startWorld } from '../../test/support/channel-world.ts';
import { createClient } from '../client.ts';
import { createPayer } from '../payer.ts';
import type { PayerSigner } from '../payer-signer.ts';

it('signs no next payment for a call that is given up while its refusal is read', async () => {
  let isRefusing = false;
  await using world = await startWorld({
    before: (_paid, _count, node) => (isRefusing ? node.refuse(`${prefix}cumulative_amount_mismatch`) : null),
  });
  const { address, signTypedData } = world.account;
  let signatures = 0;
  const signer: PayerSigner = {
    address,
    signTypedData(typedData) {
      signatures += 1;
      return signTypedData(typedData);
    },
  };
  const payer = createPayer({ signer, maxPerCall: '0.01', channels: { deposit: '0.05' } });
  const abort = new AbortController();
  const reason = new Error('enough');
  const aborting: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (isRefusing && new Headers(init?.headers).has('payment-signature')) abort.abort(reason);
    return response;
  };
  const client = createClient({ baseUrl: world.server.baseUrl, payer, fetch: aborting });
  await client.invokeAgent(call);
  isRefusing = true;
  const before = signatures;
  const given = client.invokeAgent(call, { signal: abort.signal });
  await expect(given).rejects.toMatchObject({ name: 'NoAnswerError', cause: reason });
  expect(signatures - before).toBe(1);
  isRefusing = false;
  await client.invokeAgent(call);
  expect(world.only()).toMatchObject({ charged: 2_000n, signed: 2_000n });
});
