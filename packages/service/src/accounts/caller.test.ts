import { type Scope, scopes } from '@agent-network/contracts/access/scopes';
import { describe, expect, it } from 'vitest';
import { type AccountCaller, requireAccount, requireScope } from './caller.ts';

const withScopes = (held: readonly Scope[]): AccountCaller => ({
  kind: 'account',
  name: 'test',
  session: null,
  accountId: 'acc_1',
  address: '0x',
  keyId: 'k',
  plan: 'free',
  scopes: held,
  isWalletProven: true,
  node: null,
  limits: { perCallMicro: null, perDayMicro: null, allowedAgents: null },
  budgetId: 'k',
});
const agent = { kind: 'agent', accountId: 'acc_1', agentId: 'agt_1', plan: 'free', node: null } as const;

describe.each(scopes)('the scope %s', (scope) => {
  it('is needed and is enough', () => {
    expect(() => requireScope(withScopes([scope]), scope)).not.toThrow();
    const others = scopes.filter((other) => other !== scope);
    expect(() => requireScope(withScopes(others), scope)).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  });

  it('is an agent’s only when it is about calling or seeing its own money', () => {
    const isAllowed = scope === 'invoke' || scope === 'payments:read';
    const check = () => requireScope(agent, scope);
    if (isAllowed) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  });
});

it('managing an account is for its keys', () => {
  const caller = withScopes([]);
  expect(requireAccount(caller)).toBe(caller);
  expect(() => requireAccount(agent)).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
});
