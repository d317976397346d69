import { expect, it, vi } from 'vitest';
import type { GatewayRequest } from './gateway-request.ts';
import { createUndeliveredAnswers } from './undelivered-answers.ts';

const hungUp = { c: { req: { raw: { signal: AbortSignal.abort() } } } } as unknown as GatewayRequest;

it('calls that bought nothing and hung up leave nothing behind, and the purchase among them is found', async () => {
  const lost = createUndeliveredAnswers();
  const refused = () => Promise.reject(new Error('payment required'));
  lost.watch(hungUp, 'name', Promise.resolve('req_1'));
  const strangers = Array.from({ length: 100 }, refused);
  for (const each of strangers) lost.watch(hungUp, 'name', each);
  await Promise.allSettled(strangers);
  await new Promise(setImmediate);
  const asked = strangers.map((each) => vi.spyOn(each, 'catch'));
  const found = await lost.find('name');
  expect(found?.requestId).toBe('req_1');
  for (const each of asked) expect(each).not.toHaveBeenCalled();
  found?.take();
  expect(await lost.find('name')).toBeNull();
});
