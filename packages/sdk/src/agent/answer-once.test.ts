import { describe, expect, it } from 'vitest';
import { type Answer, AnswerOnce } from './answer-once.ts';

const never = new AbortController().signal;
const answering = (status = 200, body = 'x') => {
  const run = async (): Promise<Answer> => {
    run.count += 1;
    return { status, body };
  };
  run.count = 0;
  return run;
};

describe('AnswerOnce', () => {
  it('runs a key once for callers at the same time and afterwards', async () => {
    const answers = new AnswerOnce();
    const run = answering();
    await Promise.all([answers.answer('a', never, run), answers.answer('a', never, run)]);
    expect(await answers.answer('a', never, run)).toEqual({ status: 200, body: 'x' });
    expect(run.count).toBe(1);
  });

  it.each([502, 503, 504])('runs again after a %i, which asks for a repeat', async (status) => {
    const answers = new AnswerOnce();
    const run = answering(status);
    await answers.answer('a', never, run);
    await answers.answer('a', never, run);
    expect(run.count).toBe(2);
  });

  it('drops an answer when its time is over', async () => {
    let nowMs = 0;
    const answers = new AnswerOnce({ keepMs: 100 }, () => nowMs);
    const run = answering();
    await answers.answer('a', never, run);
    nowMs = 99;
    await answers.answer('a', never, run);
    expect(run.count).toBe(1);
    nowMs = 100;
    await answers.answer('a', never, run);
    expect(run.count).toBe(2);
  });

  it.each([{ maxAnswers: 2 }, { maxChars: 2 }])('evicts the oldest first when memory is full: %j', async (limits) => {
    const answers = new AnswerOnce(limits);
    const run = answering();
    for (const key of ['a', 'b', 'c']) await answers.answer(key, never, run);
    await answers.answer('b', never, run);
    expect(run.count).toBe(3);
    await answers.answer('a', never, run);
    expect(run.count).toBe(4);
  });

  it('aborts a run only when its last caller has hung up', async () => {
    const answers = new AnswerOnce();
    const [first, second] = [new AbortController(), new AbortController()];
    const ended = Promise.withResolvers<Answer>();
    let signal: AbortSignal | undefined;
    const run = (given: AbortSignal) => {
      signal = given;
      return ended.promise;
    };
    const both = [answers.answer('a', first.signal, run), answers.answer('a', second.signal, run)];
    first.abort();
    expect(signal?.aborted).toBe(false);
    second.abort();
    expect(signal?.aborted).toBe(true);
    ended.resolve({ status: 200, body: 'x' });
    await Promise.all(both);
  });
});
