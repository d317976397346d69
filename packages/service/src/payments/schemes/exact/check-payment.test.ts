import { describe, expect, it } from 'vitest';
import type { ChainInfo } from '../../../chain/chain-info.ts';
import { refusalOf } from './check-payment.ts';
import type { PresentedTransfer } from './exact-on-wire.ts';

const wallet = `0x${'33'.repeat(20)}`;
const chain = { caip2: 'eip155:84532', name: 'base-sepolia', wallet } as ChainInfo;
const NOW_S = 1_795_255_200;
const good: PresentedTransfer = {
  version: 2,
  scheme: 'exact',
  namedScheme: 'exact',
  network: 'eip155:84532',
  accepted: null,
  identifier: null,
  payer: `0x${'aa'.repeat(20)}`,
  signature: '0x',
  authorization: {
    from: '0xa',
    to: wallet,
    valueMicro: 50_000n,
    validAfterS: 0n,
    validBeforeS: BigInt(NOW_S) + 300n,
    nonce: '0x',
  },
};
const check = (
  changes: Partial<PresentedTransfer> = {},
  authorization: Partial<PresentedTransfer['authorization']> = {},
) =>
  refusalOf(
    chain,
    { ...good, ...changes, authorization: { ...good.authorization, ...authorization } },
    { amountMicro: 50_000n, nowS: NOW_S },
  );

describe('a payment', () => {
  it('that is as asked for has nothing wrong with it, in either version', () => {
    expect(check()).toBeNull();
    expect(check({ version: 1, network: 'base-sepolia' })).toBeNull();
  });

  it('cannot be of a contract from which anyone takes, as a refund would go there', () => {
    expect(check({}, { from: '0xca11bde05977b3631167028862be2a173976ca11' })).toBe('invalid_exact_evm_signature');
  });

  it.each<[string, Partial<PresentedTransfer>]>([
    ['unsupported_scheme', { namedScheme: 'upto' }],
    ['unsupported_scheme', { namedScheme: 'EXACT' }],
    ['invalid_network', { network: 'base-sepolia' }],
    ['invalid_network', { network: 'eip155:8453' }],
    ['invalid_network', { version: 1 }],
    ['invalid_network', { version: 1, network: 'base' }],
  ])('is refused as %s with %j', (reason, changes) => expect(check(changes)).toBe(reason));

  const prefix = 'invalid_exact_evm_payload_';
  const now = BigInt(NOW_S);
  it.each<[string | null, Partial<PresentedTransfer['authorization']>]>([
    ['recipient_mismatch', { to: `0x${'34'.repeat(20)}` }],
    ['authorization_value_mismatch', { valueMicro: 49_999n }],
    ['authorization_value_mismatch', { valueMicro: 50_001n }],
    ['authorization_valid_after', { validAfterS: now + 1n }],
    [null, { validAfterS: now }],
    ['authorization_valid_before', { validBeforeS: now + 5n }],
    [null, { validBeforeS: now + 6n }],
    [null, { validBeforeS: now + 86_400n }],
    ['authorization_valid_before', { validBeforeS: now + 86_401n }],
    ['authorization_valid_before', { validBeforeS: 2n ** 255n }],
  ])('is refused as %s with other words in its authorization (%#)', (reason, authorization) =>
    expect(check({}, authorization)).toBe(reason === null ? null : prefix + reason),
  );
});
