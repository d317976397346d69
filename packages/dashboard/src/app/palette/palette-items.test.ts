import { type Scope, scopes } from '@agent-network/contracts/access/scopes';
import { expect, it } from 'vitest';
import { pageGroups } from './palette-items.ts';

const labels = (search: string, held: readonly Scope[] = scopes) =>
  pageGroups(search, held).flatMap(({ items }) => items.map(({ label }) => label));

it.each([
  ['withdraw', 'Withdraw funds'],
  ['deposit', 'Add funds'],
  ['add funds', 'Add funds'],
  ['top up', 'Add funds'],
  ['cash out', 'Withdraw funds'],
  ['sign out', 'Sign out'],
  ['log out', 'Sign out'],
  ['dark', 'Use the dark theme'],
  ['calls', 'Invocations'],
  ['quota', 'Usage and limits'],
  ['sell', 'My agents'],
  ['new token', 'Create an API key'],
  ['pay', 'Payments'],
])('%s finds %s', (search, wanted) => expect(labels(search)).toContain(wanted));

it('puts what has the words in its name first', () => {
  expect(pageGroups('withdraw', scopes)[1]?.items[0]?.label).toBe('Withdraw funds');
  expect(pageGroups('web', scopes)[0]?.items[0]?.label).toBe('Webhooks');
});

it('offers nothing that the session has no scope for', () => {
  expect(labels('withdraw', ['invoke'])).toEqual([]);
  expect(labels('operator', ['invoke'])).toEqual([]);
});

it('gives every item an id of its own', () => {
  const ids = pageGroups('', scopes).flatMap(({ items }) => items.map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
});
