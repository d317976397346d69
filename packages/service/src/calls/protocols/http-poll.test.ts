import { expect, it } from 'vitest';
import { fixedClock } from '../../../test/support/fixed-clock.ts';
import type { AgentCall, CallContext } from './adapter.ts';
import { followAccepted } from './http-client.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
/** Time left at which every pause lasts 21 ms: a second of it is kept for the last question. */
const SHORTLY_BEFORE_MS = 1021;

/** Follows work of an agent that answers these statuses one after the other, then with the result. */
async function follow(statuses: readonly number[]) {
  let asked = 0;
  const request = async () => {
    const status = statuses[asked++] ?? 200;
    return { status, headers: {}, body: Buffer.from(status === 200 ? '{"result":"done"}' : '{}') };
  };
  const ctx = { clock: fixedClock(NOW) } as unknown as CallContext;
  const call = {
    target: { endpoint: 'https://agent.test/', headers: {} },
    invocation: { id: 'request', deadline: new Date(NOW + SHORTLY_BEFORE_MS) },
    media: { request },
    signal: new AbortController().signal,
  } as unknown as AgentCall;
  const accepted = { kind: 'accepted', statusUrl: '/status', retryAfterS: null } as const;
  return { outcome: await followAccepted(ctx, call, accepted, false), asked };
}

it('an agent that answers 429 is asked on, however often; one that is away is given up after seven questions', async () => {
  expect(await follow(Array<number>(20).fill(429))).toMatchObject({ outcome: { kind: 'completed' }, asked: 21 });
  const away = { outcome: { kind: 'failed', reason: 'agent_error' }, asked: 7 };
  expect(await follow(Array<number>(20).fill(503))).toMatchObject(away);
  expect(await follow([...Array<number>(6).fill(503), 429, ...Array<number>(6).fill(503)])).toMatchObject({
    outcome: { kind: 'completed' },
    asked: 14,
  });
});
