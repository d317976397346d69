import { usdcAbi } from '@agent-network/chain/usdc-abi';
import fc from 'fast-check';
import { decodeFunctionData } from 'viem';
import { expect, it } from 'vitest';
import { BATCH_GAS, gasOf, inCallOrder, MAX_TRANSACTION_GAS, settlementCall, transferCall } from './settlement-call.ts';

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

it('a batch that the budget holds is within what the chain takes, whoever signed it', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(ofKey, ofContract), { minLength: 1, maxLength: 300 }), (signatures) => {
      const batch = signatures.map(signed);
      const gasOfFirst = (count: number) => batch.slice(0, count).reduce((sum, each) => sum + gasOf(each), 0n);
      const most = batch.findLastIndex((_, index) => gasOfFirst(index + 1) <= BATCH_GAS) + 1;
      expect(settlementCall(token, batch.slice(0, most)).gas <= MAX_TRANSACTION_GAS).toBe(true);
    }),
  );
});

it('160 payments of keys share a transaction', () => expect(gasOf(signed(ofKey, 0)) * 160n <= BATCH_GAS).toBe(true));

it('a lone authorization goes straight to the token', () =>
  expect(settlementCall(token, [signed(ofKey, 0)]).to).toBe(token));

it('contract wallets are called last, and everybody else in the order of arrival', () => {
  const batch = [ofContract, ofKey, ofContract, ofKey].map(signed);
  expect(inCallOrder(batch)).toEqual([batch[1], batch[3], batch[0], batch[2]]);
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
