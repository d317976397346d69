import { expect, it } from 'vitest';
import { AnswerOnce } from './answer-once.ts';
import { Deferred } from './deferred.ts';

it('waits for an unread answer until the answer is evicted, and no longer', async () => {
  let nowMs = 0;
  const answers = new AnswerOnce({ keepMs: 100 }, () => nowMs);
  const deferred = new Deferred(answers);
  const call = { requestId: 'req_1', identityToken: '0x01', url: '/' };
  deferred.accept(call, async () => ({ status: 200, body: '{}' }));
  await answers.find('req_1')?.answer;
  let isOver = false;
  const waiting = deferred.whenAllRead().then(() => {
    isOver = true;
  });
  await Promise.resolve();
  expect(isOver).toBe(false);
  nowMs = 100;
  await deferred.whenAllRead();
  await waiting;
});
