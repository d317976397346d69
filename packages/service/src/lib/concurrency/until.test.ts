import { describe, expect, it } from 'vitest';
import { until } from './until.ts';

const options = { timeoutMs: 1000, firstMs: 1, maxMs: 4 };

describe('asking until there is an answer', () => {
  it('asks at once, and takes the first answer that is not null, also a false one', async () => {
    expect(await until(async () => 'now', { ...options, timeoutMs: 0 })).toBe('now');
    for (const answer of [false, 0, '', undefined]) expect(await until(async () => answer, options)).toBe(answer);
  });

  it('asks again until then', async () => {
    let asked = 0;
    expect(await until(async () => (++asked === 5 ? asked : null), options)).toBe(5);
    expect(asked).toBe(5);
  });

  it('asks a last time when its time is over, and not again after an ask that ended later', async () => {
    const startMs = performance.now();
    const sinceMs = () => performance.now() - startMs;
    const came = async () => (sinceMs() >= 250 ? 'late' : null);
    expect(await until(came, { timeoutMs: 300, firstMs: 200, maxMs: 1000 })).toBe('late');
    let asked = 0;
    const askLong = async () => {
      asked++;
      const beganMs = sinceMs();
      while (sinceMs() - beganMs < 30);
      return null;
    };
    expect(await until(askLong, { timeoutMs: 30, firstMs: 1, maxMs: 1 })).toBeNull();
    expect(asked).toBe(1);
  });

  it('lets an error of the asking through', async () => {
    await expect(until(() => Promise.reject(new Error('no')), options)).rejects.toThrow('no');
  });

  it('breaks off when it is told to', async () => {
    const stop = new AbortController();
    const waiting = until(async () => null, {
      timeoutMs: 120_000,
      firstMs: 60_000,
      maxMs: 60_000,
      signal: stop.signal,
    });
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });
});
