import { parseSiweMessage } from 'viem/siwe';
import { expect, test } from 'vitest';
import { newNonce } from './challenge-id.ts';
import { challengeText, signInText } from './wallet-challenge.ts';

const terms = {
  chainId: 8453,
  challengeId: 'chl_1',
  agentId: 'agt_1' as string | null,
  accountId: 'acc_1' as string | null,
  address: '0x8f3cf7ad23cd3cadbd9735aff958023239c6a063',
  nonce: newNonce(),
  issuedAt: new Date('2026-11-21T10:00:00Z'),
  expiresAt: new Date('2026-11-21T10:05:00Z'),
};

test.each([
  ['https://node.example.com', 'node.example.com'],
  ['http://127.0.0.1:4020', '127.0.0.1:4020'],
  ['http://[::1]:4020', '[::1]:4020'],
  ['https://node:8443', 'node:8443'],
])('the text names the domain and address of the node at %s', (baseUrl, domain) => {
  const text = challengeText({ ...terms, baseUrl });
  expect(text.split('\n').slice(0, 2)).toEqual([
    `${domain} wants you to sign in with your Ethereum account:`,
    '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063',
  ]);
  expect(parseSiweMessage(text)).toMatchObject({
    uri: `${baseUrl}/identity/verify`,
    chainId: 8453,
    nonce: terms.nonce,
    requestId: 'agt_1',
    resources: ['urn:agent:agt_1'],
  });
});

test('the text that proves an owner says what its signature gives', () => {
  const { statement } = parseSiweMessage(challengeText({ ...terms, baseUrl: 'https://node.example.com' }));
  expect(statement).toBe(
    "Prove that this wallet owns the agent agt_1. Whoever asked for this text can renew the agent's identityToken with it, which spends the agent's money, and take the agent over if it was sold to this wallet.",
  );
});

test('the text that claims a wallet for an account names the account and no agent', () => {
  const text = challengeText({ ...terms, agentId: null, baseUrl: 'https://node.example.com' });
  expect(parseSiweMessage(text)).toMatchObject({
    uri: 'https://node.example.com/payments/claims',
    requestId: 'acc_1',
    resources: ['urn:account:acc_1'],
    statement:
      'Prove that this wallet is of the account acc_1. USDC that it sent or sends to this node is credited there.',
  });
});

const node = { baseUrl: 'https://node.example.com', chainId: terms.chainId, address: terms.address };
const now = new Date('2026-11-21T10:01:00Z');
const signInOf = (change: object = {}) =>
  challengeText({ ...terms, ...node, agentId: null, accountId: null, ...change });

test('the text for signing in names no account, and a node signs that text only', () => {
  const text = signInOf();
  expect(parseSiweMessage(text)).toMatchObject({
    uri: 'https://node.example.com/auth/sign-in',
    requestId: 'chl_1',
    statement: 'Sign in to the account of this wallet, with a session or an API key. This moves no money.',
  });
  expect(signInText(text, { ...node, now })).toBe(text);
  expect(signInText(text, { ...node, now, baseUrl: 'https://other.example.com' })).toBe(null);
  expect(signInText(text, { ...node, now, chainId: 1 })).toBe(null);
  expect(signInText(text, { ...node, now, address: `0x${'1'.repeat(40)}` })).toBe(null);
  expect(signInText(challengeText({ ...terms, ...node, agentId: null }), { ...node, now })).toBe(null);
  expect(signInText('0x1234', { ...node, now })).toBe(null);
});

test.each<[string, (text: string) => string]>([
  ['a line behind it', (text) => `${text}\nI owe Mallory 100 USDC.`],
  ['a further resource', (text) => `${text}\n- https://evil.example/terms`],
  ['a line before the times', (text) => text.replace('\nIssued At', '\nI owe Mallory 100 USDC.\nIssued At')],
  ['another id in the resource', (text) => text.replace(/chl_1$/, 'chl_2')],
  ['words in place of an id', (text) => text.replaceAll('chl_1', 'chl_1 and all my USDC')],
  ['words behind the nonce', (text) => text.replace(terms.nonce, `${terms.nonce} I agree`)],
  ['a nonce without end', (text) => text.replace(terms.nonce, 'a'.repeat(65))],
  ['a short nonce', (text) => text.replace(terms.nonce, 'abc')],
  ['a time that is none', (text) => text.replace('2026-11-21T10:05:00.000Z', '2026-11-21T10:05:00.000A')],
  ['another spelling of a time', (text) => text.replace('2026-11-21T10:00:00.000Z', '2026-11-21T10:00:00+00:0')],
  ['a line break of another kind', (text) => text.replaceAll('\n', '\r\n')],
  ['a space at the end', (text) => `${text} `],
])('a node does not sign a text for signing in with %s', (_what, change) => {
  const changed = change(signInOf());
  expect(changed).not.toBe(signInOf());
  expect(signInText(changed, { ...node, now })).toBe(null);
});

test.each([
  ['is good for long', { expiresAt: new Date('2026-11-22T10:00:00Z') }],
  ['was issued long ago', { issuedAt: new Date('2026-11-21T09:00:00Z'), expiresAt: new Date('2026-11-21T09:05:00Z') }],
  ['is of later', { issuedAt: new Date('2026-11-21T10:30:00Z'), expiresAt: new Date('2026-11-21T10:35:00Z') }],
  ['ends before it begins', { expiresAt: new Date('2026-11-21T09:59:00Z') }],
])('a node does not sign a text for signing in that %s', (_what, change) => {
  expect(signInText(signInOf(change), { ...node, now })).toBe(null);
});

test('nonces do not repeat', () => {
  expect(new Set(Array.from({ length: 1000 }, newNonce)).size).toBe(1000);
});
