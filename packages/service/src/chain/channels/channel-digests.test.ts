import { BATCH_SETTLEMENT_ADDRESS } from '@agent-network/chain/addresses';
import fc from 'fast-check';
import { encodeAbiParameters, type Hex, hashTypedData, keccak256 } from 'viem';
import { describe, expect, it } from 'vitest';
import { channelDigestsOf, depositNonce } from './channel-digests.ts';

const types = {
  ChannelConfig: [
    { name: 'payer', type: 'address' },
    { name: 'payerAuthorizer', type: 'address' },
    { name: 'receiver', type: 'address' },
    { name: 'receiverAuthorizer', type: 'address' },
    { name: 'token', type: 'address' },
    { name: 'withdrawDelay', type: 'uint40' },
    { name: 'salt', type: 'bytes32' },
  ],
  Voucher: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'maxClaimableAmount', type: 'uint128' },
  ],
  Refund: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'nonce', type: 'uint256' },
    { name: 'amount', type: 'uint128' },
  ],
  ClaimBatch: [{ name: 'claims', type: 'ClaimEntry[]' }],
  ClaimEntry: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'maxClaimableAmount', type: 'uint128' },
    { name: 'totalClaimed', type: 'uint128' },
  ],
} as const;

const domainOf = (chainId: number) => ({
  name: 'x402 Batch Settlement',
  version: '1',
  chainId,
  verifyingContract: BATCH_SETTLEMENT_ADDRESS,
});

const hexOf = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((array) => `0x${Buffer.from(array).toString('hex')}` as Hex);
const uintOf = (bits: bigint) => fc.bigInt(0n, 2n ** bits - 1n);
const anyChain = fc.integer({ min: 1, max: 2 ** 31 });

describe('native hashes of channels are those of viem', () => {
  it('for the id of every configuration', () => {
    const config = fc.record({
      payer: hexOf(20),
      payerAuthorizer: hexOf(20),
      receiver: hexOf(20),
      receiverAuthorizer: hexOf(20),
      token: hexOf(20),
      withdrawDelayS: fc.integer({ min: 0, max: 2 ** 40 - 1 }),
      salt: hexOf(32),
    });
    fc.assert(
      fc.property(anyChain, config, (chainId, ours) => {
        const { withdrawDelayS: withdrawDelay, ...rest } = ours;
        const message = { ...rest, withdrawDelay };
        expect(channelDigestsOf(chainId).channelIdOf(ours)).toBe(
          hashTypedData({ domain: domainOf(chainId), types, primaryType: 'ChannelConfig', message }),
        );
      }),
    );
  });

  it('for every voucher and refund', () => {
    fc.assert(
      fc.property(anyChain, hexOf(32), uintOf(256n), uintOf(128n), (chainId, channelId, nonce, amount) => {
        const [digests, domain] = [channelDigestsOf(chainId), domainOf(chainId)];
        const voucher = { channelId, maxClaimableAmount: amount };
        expect(digests.voucherDigest(channelId, amount)).toBe(
          hashTypedData({ domain, types, primaryType: 'Voucher', message: voucher }),
        );
        const refund = { channelId, nonce, amount };
        expect(digests.refundDigest(channelId, nonce, amount)).toBe(
          hashTypedData({ domain, types, primaryType: 'Refund', message: refund }),
        );
      }),
    );
  });

  it('for every batch of claims, the empty one included', () => {
    const row = fc.record({ channelId: hexOf(32), maxMicro: uintOf(128n), totalMicro: uintOf(128n) });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 5 }), (rows) => {
        const claims = rows.map(({ channelId, maxMicro, totalMicro }) => ({
          channelId,
          maxClaimableAmount: maxMicro,
          totalClaimed: totalMicro,
        }));
        expect(channelDigestsOf(8453).claimBatchDigest(rows)).toBe(
          hashTypedData({ domain: domainOf(8453), types, primaryType: 'ClaimBatch', message: { claims } }),
        );
      }),
    );
  });

  it('for the nonce of every deposit', () => {
    fc.assert(
      fc.property(hexOf(32), uintOf(256n), (channelId, salt) => {
        const encoded = encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [channelId, salt]);
        expect(depositNonce(channelId, salt)).toBe(keccak256(encoded));
      }),
    );
  });
});
