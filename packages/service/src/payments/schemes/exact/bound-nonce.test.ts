import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { ChainInfo } from '../../../chain/chain-info.ts';
import { createSecrets } from '../../../lib/secrets.ts';
import { type Binding, makeNonce, originOf } from './bound-nonce.ts';

const chain = { caip2: 'eip155:84532', token: `0x${'11'.repeat(20)}`, wallet: `0x${'22'.repeat(20)}` } as ChainInfo;
const secrets = createSecrets('a secret of at least 32 characters');
const binding: Binding = { purpose: 'deposit', target: 'trs_1 5', accountId: 'acc_1', amountMicro: 5n };

it('is bound to account, thing, price, chain and recipient, and to nothing else', () => {
  const nonce = makeNonce(chain, secrets, binding);
  expect(nonce).toMatch(/^0x[0-9a-f]{64}$/);
  expect(originOf(chain, secrets, nonce, binding)).toBe('bound');
  const others: Binding[] = [
    { ...binding, purpose: 'invocation' },
    { ...binding, target: 'trs_2 5' },
    { ...binding, accountId: 'acc_2' },
    { ...binding, amountMicro: 6n },
  ];
  for (const other of others) expect(originOf(chain, secrets, nonce, other)).toBe('bound to another');
  for (const elsewhere of [
    { ...chain, wallet: chain.token },
    { ...chain, caip2: 'eip155:1' },
  ])
    expect(originOf(elsewhere, secrets, nonce, binding)).toBe('bound to another');
});

it('is new for each offer, and one of another making or of another node is free', () => {
  const made = Array.from({ length: 50 }, () => makeNonce(chain, secrets, binding));
  expect(new Set(made).size).toBe(50);
  const others = [
    `0x${randomBytes(32).toString('hex')}`,
    `0x${'00'.repeat(32)}`,
    makeNonce(chain, createSecrets('another secret of at least 32 letters'), binding),
  ];
  for (const nonce of others) expect(originOf(chain, secrets, nonce, binding)).toBe('free');
});
