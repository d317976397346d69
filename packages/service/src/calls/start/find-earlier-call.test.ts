import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { unkeyed } from '../../accounts/idempotency/once.ts';
import { retryAsReplay } from './find-earlier-call.ts';

const taken = () => Object.assign(new pg.DatabaseError('duplicate key value', 0, 'error'), { code: '23505' });

/** Decides a call whose id another process takes while it is decided for the first time. */
function decideBehind(error: Error) {
  let times = 0;
  return async () => {
    times += 1;
    if (times === 1) throw error;
    return 'the one that was made';
  };
}

describe('a call whose id was taken at the same moment', () => {
  it('by the payment of the other scheme for its offer, at another process, is that call', async () => {
    expect(await retryAsReplay({ shown: {}, once: unkeyed }, decideBehind(taken()))).toBe('the one that was made');
  });

  it('under its Idempotency-Key, is that call', async () => {
    const once = { ...unkeyed, idsFor: () => ['req_1'] };
    expect(await retryAsReplay({ shown: null, once }, decideBehind(taken()))).toBe('the one that was made');
  });

  it('is decided once when nothing names it', async () => {
    await expect(retryAsReplay({ shown: null, once: unkeyed }, decideBehind(taken()))).rejects.toThrow('duplicate key');
  });
});

it('a call that failed otherwise is not decided again', async () => {
  await expect(retryAsReplay({ shown: {}, once: unkeyed }, decideBehind(new Error('no')))).rejects.toThrow('no');
});
