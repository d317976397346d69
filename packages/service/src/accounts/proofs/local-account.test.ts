import { expect, test } from 'vitest';
import { localAccountOf } from './sign-in.ts';

const local = { wallet: '0xAB', chainId: 84_532, baseUrl: 'http://127.0.0.1:4020', isExposed: false };

test.each(['http://127.0.0.1:4020', 'http://localhost:4020', 'http://[::1]:4020', 'http://127.8.9.1'])(
  'a node at %s has an account of its own',
  (baseUrl) => expect(localAccountOf({ ...local, baseUrl })).toBe('0xab'),
);

test.each([
  ['is not in local mode', { wallet: null }],
  ['moves real money', { chainId: 8453 }],
  ['listens for others', { isExposed: true }],
  ['is reached from elsewhere', { baseUrl: 'https://node.example' }],
  ['is in a local network', { baseUrl: 'http://192.168.1.2:4020' }],
  ['only sounds local', { baseUrl: 'http://127.0.0.1.evil.example:4020' }],
])('a node that %s has none', (_why, change) => expect(localAccountOf({ ...local, ...change })).toBeNull());
