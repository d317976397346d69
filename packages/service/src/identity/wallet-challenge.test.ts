import { parseSiweMessage } from 'viem/siwe';
import { expect, test } from 'vitest';
import { challengeText, isSignInText, newNonce } from './wallet-challenge.ts';

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

test('the text for signing in names no account, and a node signs that text only', () => {
  const node = { baseUrl: 'https://node.example.com', chainId: terms.chainId, address: terms.address };
  const text = challengeText({ ...terms, ...node, agentId: null, accountId: null });
  expect(parseSiweMessage(text)).toMatchObject({
    uri: 'https://node.example.com/auth/sign-in',
    requestId: 'chl_1',
    statement: 'Sign in to the account of this wallet, with a session or an API key. This moves no money.',
  });
  expect(isSignInText(text, node)).toBe(true);
  expect(isSignInText(text, { ...node, baseUrl: 'https://other.example.com' })).toBe(false);
  expect(isSignInText(text, { ...node, chainId: 1 })).toBe(false);
  expect(isSignInText(text, { ...node, address: `0x${'1'.repeat(40)}` })).toBe(false);
  expect(isSignInText(challengeText({ ...terms, ...node, agentId: null }), node)).toBe(false);
  expect(isSignInText('0x1234', node)).toBe(false);
});

test('nonces do not repeat', () => {
  expect(new Set(Array.from({ length: 1000 }, newNonce)).size).toBe(1000);
});
