import { HttpRequestError, RpcRequestError, TimeoutError } from 'viem';
import { expect, it } from 'vitest';
import type { SignedAuthorization } from '../../chain/settlement-call.ts';
import type { UsdcClient } from '../../chain/usdc-client.ts';
import { createSimulator } from './payment-simulator.ts';

const signed = (index: number, signature: SignedAuthorization['signature'] = '0x'): SignedAuthorization => ({
  signature,
  authorization: {
    ...{ from: '0xa', to: '0xb', valueMicro: 1n, validAfterS: 0n, validBeforeS: 1n },
    nonce: `0x${index}`,
  },
});

/** A simulator whose chain answers a batch so, and how many it was asked about each time. */
function simulatorOf(answer: (size: number) => (string | null)[]) {
  const sizes: number[] = [];
  const simulate = async (batch: readonly SignedAuthorization[]) => {
    sizes.push(batch.length);
    return answer(batch.length);
  };
  return { simulator: createSimulator({ usdc: { simulate } as unknown as UsdcClient }), sizes };
}
const throwing = (error: Error) => () => {
  throw error;
};
const url = 'http://chain';

it.each([
  ['is slow', new TimeoutError({ body: {}, url })],
  ['is away', new HttpRequestError({ body: {}, url })],
])('a chain that %s is asked once about payments that come together, which all hear of it', async (_how, error) => {
  const { simulator, sizes } = simulatorOf(throwing(error));
  const all = await Promise.allSettled([1, 2, 3].map((index) => simulator.simulate(signed(index))));
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(sizes).toEqual([3]);
});

it.each([
  ['refuses so many', new RpcRequestError({ body: {}, url, error: { code: -32000, message: 'out of gas' } })],
  ['takes no body as large', new HttpRequestError({ body: {}, url, status: 413 })],
])('a chain that %s is asked about each', async (_how, refusal) => {
  const { simulator, sizes } = simulatorOf((size) => (size > 1 ? throwing(refusal)() : [null]));
  expect(await Promise.all([1, 2].map((index) => simulator.simulate(signed(index))))).toEqual([null, null]);
  expect(sizes).toEqual([2, 1, 1]);
});

it('a payment that is shown several times at once is asked about once', async () => {
  const { simulator, sizes } = simulatorOf((size) => Array<null>(size).fill(null));
  await Promise.all([1, 1, 2, 1].map((index) => simulator.simulate(signed(index))));
  expect(sizes).toEqual([2]);
});

it('payments that differ under one nonce have answers of their own', async () => {
  const spoiled: SignedAuthorization = { ...signed(1), signature: '0x01' };
  const asked: string[][] = [];
  const simulate = async (batch: readonly SignedAuthorization[]) => {
    asked.push(batch.map(({ signature }) => signature));
    return batch.map(({ signature }) => (signature === '0x01' ? 'invalid signature' : null));
  };
  const simulator = createSimulator({ usdc: { simulate } as unknown as UsdcClient });
  const answers = [signed(1), spoiled, signed(2), spoiled].map((each) => simulator.simulate(each));
  expect(await Promise.all(answers)).toEqual([null, 'invalid signature', null, 'invalid signature']);
  expect(asked).toEqual([['0x', '0x'], ['0x01']]);
});

it('many payments under one nonce are simulated one at a time, and fail no others', async () => {
  let running = 0;
  const sizes: number[] = [];
  const simulate = async (batch: readonly SignedAuthorization[]) => {
    running += 1;
    expect(running).toBe(1);
    sizes.push(batch.length);
    await Promise.resolve();
    running -= 1;
    if (batch.some(({ signature }) => signature === '0x05')) throw new Error('429');
    return batch.map(() => null);
  };
  const simulator = createSimulator({ usdc: { simulate } as unknown as UsdcClient });
  const crowd = Array.from({ length: 9 }, (_, index) => signed(1, `0x0${index + 1}`));
  const answers = [...crowd, signed(2)].map((each) => simulator.simulate(each).catch(() => 'failed'));
  expect(await Promise.all(answers)).toEqual([
    ...crowd.map(({ signature }) => (signature === '0x05' ? 'failed' : null)),
    null,
  ]);
  expect(sizes).toEqual([2, ...Array.from({ length: 8 }, () => 1)]);
});
