import { EventEmitter } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
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

/** A call that is being answered, and a way to end its connection. */
function openedCall() {
  const outgoing = Object.assign(new EventEmitter(), { closed: false, writableFinished: false });
  const gone = new AbortController();
  const c = { req: { raw: { signal: gone.signal } }, env: { incoming: {}, outgoing } };
  const close = (isSent: boolean) => {
    outgoing.writableFinished = isSent;
    outgoing.emit('close');
  };
  return { opened: { c } as unknown as GatewayRequest, close, hangUp: () => gone.abort() };
}

describe('an identical call that overtook the news of its first one', () => {
  it.each<[string, (first: ReturnType<typeof openedCall>, lose: () => void) => void, found: string | null]>([
    ['is given up: it is the same purchase', (_first, lose) => lose(), 'req_1'],
    ['is left by its client: it is the same purchase', ({ hangUp }) => hangUp(), 'req_1'],
    ['loses its connection: it is the same purchase', ({ close }) => close(false), 'req_1'],
    ['is answered: it is another purchase', ({ close }) => close(true), null],
  ])('waits until the first %s', async (_how, end, found) => {
    const lost = createUndeliveredAnswers();
    const first = openedCall();
    const lose = lost.watch(first.opened, 'name', Promise.resolve('req_1'));
    let isOver = false;
    const taken = lost.take('name').finally(() => {
      isOver = true;
    });
    expect(await lost.take('another')).toBeNull();
    expect(isOver).toBe(false);
    end(first, lose);
    expect(await taken).toBe(found);
  });

  it('waits for a moment only, and not for one that bought nothing', async () => {
    const lost = createUndeliveredAnswers();
    const refused = Promise.reject(new Error('payment required'));
    lost.watch(openedCall().opened, 'name', refused);
    await refused.catch(() => undefined);
    await new Promise(setImmediate);
    expect(await lost.take('name')).toBeNull();
    lost.watch(openedCall().opened, 'name', Promise.resolve('req_1'));
    expect(await lost.take('name')).toBeNull();
  });
});
