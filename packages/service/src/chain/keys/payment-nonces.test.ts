import { keccak256 } from 'viem';
import { describe, expect, it } from 'vitest';
import { payoutNonce } from './payment-nonces.ts';

describe('the nonce of a payout', () => {
  it('never changes: a debt that was signed once is signed again under the same one', () => {
    expect(payoutNonce(84532, 'refund', 'req_01k0000000000000000000000a')).toBe(
      keccak256(new TextEncoder().encode('agent-network:84532:refund:req_01k0000000000000000000000a')),
    );
    expect(payoutNonce(84532, 'refund', 'req_1')).toMatch(/^0x[0-9a-f]{64}$/);
  });

  it('differs by chain, purpose and cause', () => {
    const nonces = [
      payoutNonce(1, 'refund', 'a'),
      payoutNonce(2, 'refund', 'a'),
      payoutNonce(1, 'withdrawal', 'a'),
      payoutNonce(1, 'refund', 'b'),
    ];
    expect(new Set(nonces).size).toBe(4);
  });
});
