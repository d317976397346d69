import { describe, expect, it, vi } from 'vitest';
import type { GatewayRequest } from '../common/gateway-request.ts';
import { createGivenUpCalls } from './given-up.ts';

const openedAs = (caller: object, { signal } = new AbortController()) =>
  ({ caller, c: { req: { raw: { signal } } } }) as unknown as GatewayRequest;
const named = (lose: () => void) => ({ name: 'the same', lose });
const alice = openedAs({ kind: 'account', accountId: 'acc_a' });
const bob = openedAs({ kind: 'account', accountId: 'acc_b' });
const agentOfAlice = openedAs({ kind: 'agent', accountId: 'acc_a', agentId: 'agent_1' });
const nobody = openedAs({ kind: 'anonymous' });

describe('a cancellation of an MCP call', () => {
  it.each<[string, GatewayRequest, GatewayRequest, id: unknown, isLost: boolean]>([
    ['by its caller', alice, alice, 3, true],
    ['of another id', alice, alice, 4, false],
    ['of the same id as text', alice, alice, '3', false],
    ['by another account', alice, bob, 3, false],
    ['by an agent of the account', alice, agentOfAlice, 3, false],
    ['without an id', alice, alice, undefined, false],
    ['with an object for an id', alice, alice, {}, false],
    ['by a caller without a key', nobody, nobody, 3, false],
  ])('%s loses its purchase: only its own', (_how, buyer, canceller, id, isLost) => {
    const calls = createGivenUpCalls();
    let losses = 0;
    calls.record(
      buyer,
      3,
      named(() => {
        losses += 1;
      }),
    );
    calls.giveUp(canceller, id);
    expect(losses).toBe(isLost ? 1 : 0);
  });

  it('loses the calls of all clients of its caller that number alike, and none that was answered before', () => {
    const calls = createGivenUpCalls();
    const lost: string[] = [];
    const answered = calls.record(
      alice,
      3,
      named(() => lost.push('answered')),
    );
    answered();
    calls.record(
      alice,
      3,
      named(() => lost.push('first')),
    );
    calls.record(
      alice,
      3,
      named(() => lost.push('second')),
    );
    calls.giveUp(alice, 3);
    calls.giveUp(alice, 3);
    expect(lost).toEqual(['first', 'second']);
  });

  it('that crosses the answer loses the purchase: its client has not read it', () => {
    const calls = createGivenUpCalls();
    let isLost = false;
    calls.record(
      alice,
      3,
      named(() => {
        isLost = true;
      }),
    )();
    calls.giveUp(alice, 3);
    expect(isLost).toBe(true);
  });

  it.each<
    [string, (calls: ReturnType<typeof createGivenUpCalls>, answered: () => void, gone: AbortController) => void]
  >([
    ['is cancelled', (calls) => calls.giveUp(alice, 3)],
    ['is answered', (_calls, answered) => answered()],
    ['is left by its client', (_calls, _answered, gone) => gone.abort()],
  ])('is awaited by an identical call that overtook it, until the first %s', async (_how, end) => {
    const calls = createGivenUpCalls();
    const gone = new AbortController();
    const answered = calls.record(openedAs(alice.caller, gone), 3, named(vi.fn()));
    let isOver = false;
    const overtaken = calls.overtaken('the same').then(() => {
      isOver = true;
    });
    await calls.overtaken('another');
    expect(isOver).toBe(false);
    end(calls, answered, gone);
    await calls.overtaken('the same');
    await overtaken;
  });

  it('is not awaited for long', async () => {
    const calls = createGivenUpCalls();
    calls.record(alice, 3, named(vi.fn()));
    await calls.overtaken('the same');
  });
});
