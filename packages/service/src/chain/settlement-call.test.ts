import { multicall3Abi } from '@agent-network/chain/multicall3-abi';
import { usdcAbi } from '@agent-network/chain/usdc-abi';
import fc from 'fast-check';
import { decodeFunctionData } from 'viem';
import { expect, it } from 'vitest';
import { SETTLEMENT_CONTRACT } from './channels/channel-calls.ts';
import { BATCH_GAS, fitting, MAX_TRANSACTION_GAS, settlementCall, transferCall } from './settlement-call.ts';

const token = `0x${'aa'.repeat(20)}` as const;
const ofKey = `0x${'11'.repeat(64)}1b`;
const ofContract = `0x${'22'.repeat(100)}`;
const signed = (signature: string, index: number) => ({
  signature,
  authorization: {
    from: `0x${'01'.repeat(20)}`,
    to: `0x${'02'.repeat(20)}`,
    valueMicro: 1n,
    validAfterS: 0n,
    validBeforeS: 1n,
    nonce: `0x${index.toString(16).padStart(64, '0')}`,
  },
});

it('a full batch is within what the chain takes, and 160 payments of keys share a transaction', () => {
  const many = Array.from({ length: 200 }, (_, index) => signed(ofKey, index));
  const full = fitting(many, MAX_TRANSACTION_GAS);
  expect(settlementCall(token, full).gas <= MAX_TRANSACTION_GAS).toBe(true);
  expect(full.length).toBeGreaterThanOrEqual(160);
  expect(BATCH_GAS / 100_000n).toBe(BigInt(full.length));
});

it('as many fit as the gas allows', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.bigInt({ min: 0n, max: MAX_TRANSACTION_GAS }),
      fc.array(fc.boolean(), { minLength: 200, maxLength: 200 }),
      (count, maxGas, isDeposit) => {
        const batch = Array.from({ length: count }, (_, index) => ({
          ...signed(ofKey, index),
          depositCall: isDeposit[index] ? `0xdd${index}` : null,
        }));
        const first = fitting(batch, maxGas);
        expect(first.length === 0 || settlementCall(token, first).gas <= maxGas).toBe(true);
        const more = batch.slice(0, first.length + 1);
        expect(more.length === first.length || settlementCall(token, more).gas > maxGas).toBe(true);
      },
    ),
  );
});

it('a lone authorization goes straight to the token', () =>
  expect(settlementCall(token, [signed(ofKey, 0)]).to).toBe(token));

it('a deposit goes to the settlement contract, alone and beside payments of the token, with more gas', () => {
  const deposit = { ...signed(ofKey, 0), depositCall: '0xdeadbeef' };
  const lone = settlementCall(token, [deposit]);
  expect(lone).toMatchObject({ to: SETTLEMENT_CONTRACT, data: '0xdeadbeef' });
  expect(lone.gas).toBeGreaterThan(settlementCall(token, [signed(ofKey, 0)]).gas);
  const { args } = decodeFunctionData({
    abi: multicall3Abi,
    data: settlementCall(token, [signed(ofKey, 1), deposit]).data,
  });
  const targets = (args as readonly [readonly { target: string }[]])[0].map(({ target }) => target.toLowerCase());
  expect(targets).toEqual([token, SETTLEMENT_CONTRACT]);
});

it('a lone authorization has as much gas as is said, else that of a key', () => {
  expect(settlementCall(token, [signed(ofContract, 0)], 123_456n).gas).toBe(123_456n);
  expect(settlementCall(token, [signed(ofKey, 0)]).gas).toBeLessThanOrEqual(200_000n);
});

it.each([
  ['a key', ofKey, [27, `0x${'11'.repeat(32)}`, `0x${'11'.repeat(32)}`]],
  ['a contract', ofContract, [ofContract]],
])(
  "an authorization of %s is submitted by the form of USDC's function that takes its signature",
  (_of, signature, last) => {
    const given = signed(signature, 7);
    const { from, to, valueMicro, validAfterS, validBeforeS, nonce } = given.authorization;
    const { functionName, args } = decodeFunctionData({ abi: usdcAbi, data: transferCall(given) });
    expect(functionName).toBe('transferWithAuthorization');
    expect(args).toEqual([from, to, valueMicro, validAfterS, validBeforeS, nonce, ...last]);
  },
);
