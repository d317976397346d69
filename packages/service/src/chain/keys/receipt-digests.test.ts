import {
  invocationReceiptDomain,
  invocationReceiptTypes,
  paymentReceiptDomain,
  paymentReceiptTypes,
} from '@agent-network/contracts/payments/receipt-types';
import { hashTypedData } from 'viem';
import { expect, it } from 'vitest';
import { invocationReceiptDigest, paymentReceiptDigest } from './receipt-digests.ts';

const address = '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063';
const hash = (digit: string): `0x${string}` => `0x${digit.repeat(64)}`;

it('the digest of a receipt is the one that viem computes', () => {
  const receipt = {
    requestId: 'req_1',
    node: 'https://node.example/é',
    agentId: 'agt_1',
    owner: address,
    payer: '',
    paymentMethod: 'x402',
    asset: address,
    price: '1000000000000000000',
    cost: '0',
    refund: '50000',
    transaction: hash('a'),
    channel: '',
    status: 'completed',
    taskHash: hash('1'),
    inputHash: hash('2'),
    contextHash: hash('3'),
    resultHash: hash('0'),
    createdAt: 1_800_000_000,
    completedAt: 1_800_000_001,
    issuedAt: 1_800_000_002,
  } as const;
  const message = { ...receipt, price: 10n ** 18n, cost: 0n, refund: 50_000n };
  expect(invocationReceiptDigest(84532, receipt)).toBe(
    hashTypedData({
      domain: invocationReceiptDomain(84532),
      types: invocationReceiptTypes,
      primaryType: 'InvocationReceipt',
      message: {
        ...message,
        createdAt: BigInt(message.createdAt),
        completedAt: BigInt(message.completedAt),
        issuedAt: BigInt(message.issuedAt),
      },
    }),
  );
  const paid = {
    version: 1,
    network: 'eip155:8453',
    resourceUrl: 'https://node.example/invoke/agt_1',
    payer: address,
    issuedAt: 1_800_000_000,
    transaction: '',
  } as const;
  expect(paymentReceiptDigest(paid)).toBe(
    hashTypedData({
      domain: paymentReceiptDomain,
      types: paymentReceiptTypes,
      primaryType: 'Receipt',
      message: { ...paid, version: 1n, issuedAt: BigInt(paid.issuedAt) },
    }),
  );
});
