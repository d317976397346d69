import { describe, expect, it } from 'vitest';
import type { GatewayRequest } from '../common/gateway-request.ts';
import { createGivenUpCalls } from './given-up.ts';

const openedAs = (caller: object) => ({ caller }) as GatewayRequest;
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
    calls.record(buyer, 3, () => {
      losses += 1;
    });
    calls.giveUp(canceller, id);
    expect(losses).toBe(isLost ? 1 : 0);
  });

  it('loses the calls of all clients of its caller that number alike, and none that was answered before', () => {
    const calls = createGivenUpCalls();
    const lost: string[] = [];
    const answered = calls.record(alice, 3, () => lost.push('answered'));
    answered();
    calls.record(alice, 3, () => lost.push('first'));
    calls.record(alice, 3, () => lost.push('second'));
    calls.giveUp(alice, 3);
    calls.giveUp(alice, 3);
    expect(lost).toEqual(['first', 'second']);
  });

  it('that crosses the answer loses the purchase: its client has not read it', () => {
    const calls = createGivenUpCalls();
    let isLost = false;
    calls.record(alice, 3, () => {
      isLost = true;
    })();
    calls.giveUp(alice, 3);
    expect(isLost).toBe(true);
  });
});
