import fc from 'fast-check';
import { type Hex, keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { createNodeWallet, payoutNonce } from './node-wallet.ts';

const hexOf = (min: number, max = min) =>
  fc.uint8Array({ minLength: min, maxLength: max }).map((array) => `0x${Buffer.from(array).toString('hex')}` as Hex);
const key: Hex = `0x${'4c'.repeat(32)}`;
const account = privateKeyToAccount(key);
const wallet = createNodeWallet(key);

describe("the node's wallet", () => {
  it('has the address of its key, in lower case', () => expect(wallet.address).toBe(account.address.toLowerCase()));

  it('signs transactions byte for byte as viem does', async () => {
    const transaction = fc.record({
      chainId: fc.integer({ min: 1, max: 2 ** 31 }),
      nonce: fc.bigInt(0n, 2n ** 50n),
      to: hexOf(20),
      data: hexOf(0, 400),
      gas: fc.bigInt(21_000n, 30_000_000n),
      maxFeePerGas: fc.bigInt(10n ** 9n, 10n ** 12n),
      maxPriorityFeePerGas: fc.bigInt(0n, 10n ** 9n),
    });
    await fc.assert(
      fc.asyncProperty(transaction, async (unsigned) => {
        const { raw, hash } = wallet.signTransaction(unsigned);
        expect(raw).toBe(
          await account.signTransaction({ ...unsigned, type: 'eip1559', nonce: Number(unsigned.nonce) }),
        );
        expect(hash).toBe(keccak256(raw));
      }),
    );
  });

  it('shows its key to nobody who looks at it', () => {
    expect(JSON.stringify(wallet)).not.toContain(key.slice(2));
    expect(Object.values(wallet)).not.toContain(key);
  });
});

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
