import type { Scope } from '@agent-network/contracts/access/scopes';
import { describe, expect, it } from 'vitest';
import type { AccountCaller, SpendingLimits } from './caller.ts';
import { noLimits, readLimits, requireWithinLimits, toWireLimits } from './spending-limits.ts';

const callerWith = (limits: Partial<SpendingLimits>): AccountCaller => ({
  kind: 'account',
  name: 'test',
  session: null,
  accountId: 'acc_1',
  address: '0x',
  keyId: 'key_1',
  budgetId: 'key_1',
  plan: 'pro',
  scopes: ['invoke'],
  isWalletProven: true,
  node: null,
  limits: { ...noLimits, ...limits },
});

describe('a call is within the limits of its key', () => {
  it.each<[string, Partial<SpendingLimits>, bigint, string | null]>([
    ['without limits', {}, 10n ** 12n, null],
    ['at the limit of a call', { perCallMicro: 50_000n }, 50_000n, null],
    ['a micro-USDC above it', { perCallMicro: 50_000n }, 50_001n, 'perCall'],
    ['free, where nothing may be spent', { perCallMicro: 0n, perDayMicro: 0n }, 0n, null],
    ['above all that a day allows', { perDayMicro: 50_000n }, 50_001n, 'perDay'],
    ['of an agent that is allowed', { allowedAgents: ['agt_2', 'agt_1'] }, 1n, null],
    ['of an agent that is not', { allowedAgents: ['agt_2'] }, 1n, 'allowedAgents'],
    ['of any agent, where none is allowed', { allowedAgents: [] }, 0n, 'allowedAgents'],
  ])('%s', (_, limits, priceMicro, broken) => {
    const check = () => requireWithinLimits(callerWith(limits), 'agt_1', priceMicro);
    if (broken === null) expect(check).not.toThrow();
    else
      expect(check).toThrow(
        expect.objectContaining({
          code: 'SPENDING_LIMIT_EXCEEDED',
          extra: { details: expect.objectContaining({ limit: broken }) },
        }),
      );
  });

  it('and an agent with its identityToken has none', () => {
    const agent = { kind: 'agent', accountId: 'acc_1', agentId: 'agt_9', plan: 'pro', node: null } as const;
    expect(() => requireWithinLimits(agent, 'agt_1', 10n ** 12n)).not.toThrow();
  });
});

it.each<Scope>(['keys:manage', 'payments:withdraw', 'operator'])(
  'a key that may %s takes no limits, as it could get around them',
  (scope) => {
    expect(() => readLimits({ perDay: '1' }, ['invoke', scope])).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR' }),
    );
    expect(readLimits({ perDay: null }, ['invoke', scope])).toEqual(noLimits);
  },
);

it('limits come back as they were given', () => {
  const wire = { perCall: '0.05', perDay: '10.00', allowedAgents: ['agt_1'] };
  expect(toWireLimits(readLimits({ ...wire, allowedAgents: ['agt_1', 'agt_1'] }, ['invoke']))).toEqual(wire);
  expect(toWireLimits(readLimits(undefined, ['invoke']))).toEqual({ perCall: null, perDay: null, allowedAgents: null });
});
