import { describe, expect, it } from 'vitest';
import type { PresentedVoucher } from './channel-on-wire.ts';
import { type JudgedChannel, judgeVoucher, refusalOfDeposit, refusalOfVoucher } from './judge-voucher.ts';

const hex = (byte: string, bytes: number) => `0x${byte.repeat(bytes)}`;
const wallet = hex('33', 20);
const token = hex('11', 20);
const authorizer = hex('a1', 20);
const channelId = hex('cc', 32);
const chain = { caip2: 'eip155:84532', token, wallet };
const terms = { withdrawDelayS: 86_400, minDepositMicro: 1_000n, longestCallS: 42_996 };
const NOW_S = 1_795_255_200;

const config = {
  payer: hex('aa', 20),
  payerAuthorizer: authorizer,
  receiver: wallet,
  receiverAuthorizer: wallet,
  token,
  withdrawDelayS: 86_400,
  salt: hex('00', 32),
};
const voucher = { config, channelId, maxMicro: 1_000n, signature: '0x' };

interface Given {
  readonly network?: string;
  readonly config?: Partial<typeof config>;
  readonly channelId?: string;
  readonly computed?: string;
  readonly signer?: string | null;
}
const refusal = (given: Given = {}) =>
  refusalOfVoucher(
    chain,
    terms,
    {
      network: given.network ?? chain.caip2,
      voucher: { ...voucher, channelId: given.channelId ?? channelId, config: { ...config, ...given.config } },
    },
    { channelId: given.computed ?? channelId, signer: given.signer === undefined ? authorizer : given.signer },
  );

describe('a voucher', () => {
  it('for this node, signed by its channel, has nothing wrong with it', () => expect(refusal()).toBeNull());

  it.each<[string, Given, string]>([
    ['of another network', { network: 'eip155:8453' }, 'network_mismatch'],
    ['of an id that is none', { channelId: '0x12' }, 'channel_id_invalid'],
    ['of an id that leaves its folder', { channelId: '../../x' }, 'channel_id_invalid'],
    ["of another channel's id", { channelId: hex('dd', 32) }, 'channel_id_mismatch'],
    ['of a changed configuration', { computed: hex('dd', 32) }, 'channel_id_mismatch'],
    ['for another receiver', { config: { receiver: token } }, 'receiver_mismatch'],
    ['for another authorizer', { config: { receiverAuthorizer: token } }, 'receiver_authorizer_mismatch'],
    ['of another token', { config: { token: wallet } }, 'token_mismatch'],
    ['of a shorter delay', { config: { withdrawDelayS: 900 } }, 'withdraw_delay_mismatch'],
    ['of a delay the contract refuses', { config: { withdrawDelayS: 899 } }, 'withdraw_delay_out_of_range'],
    ['of a delay of years', { config: { withdrawDelayS: 2_592_001 } }, 'withdraw_delay_out_of_range'],
    ['signed by nobody', { signer: null }, 'voucher_signature'],
    ['signed by another key', { signer: wallet }, 'voucher_signature'],
    [
      'whose signer is a contract',
      { config: { payerAuthorizer: hex('00', 20) }, signer: hex('00', 20) },
      'voucher_signature',
    ],
  ])('%s is refused by its code', (_what, given, code) =>
    expect(refusal(given)).toBe(`invalid_batch_settlement_evm_${code}`),
  );
});

const authorization = { validAfterS: 0n, validBeforeS: BigInt(NOW_S) + 300n, salt: hex('00', 32), signature: '0x' };
const deposit = (changes: Partial<NonNullable<PresentedVoucher['deposit']>>) =>
  refusalOfDeposit(terms, { deposit: { amountMicro: 5_000n, authorization, ...changes } }, NOW_S);

describe('a deposit', () => {
  it('that is as asked for has nothing wrong with it', () => expect(deposit({})).toBeNull());

  it.each([
    ['without an authorization by ERC-3009', { authorization: null }, 'erc3009_authorization_required'],
    ['of nothing', { amountMicro: 0n }, 'deposit_below_min_deposit'],
    ['below the minimum', { amountMicro: 999n }, 'deposit_below_min_deposit'],
    [
      'that is not valid yet',
      { authorization: { ...authorization, validAfterS: BigInt(NOW_S) + 1n } },
      'payload_authorization_valid_after',
    ],
    [
      'that expires too soon',
      { authorization: { ...authorization, validBeforeS: BigInt(NOW_S) + 5n } },
      'payload_authorization_valid_before',
    ],
    [
      'that is valid for days',
      { authorization: { ...authorization, validBeforeS: BigInt(NOW_S) + 86_401n } },
      'payload_authorization_valid_before',
    ],
  ])('%s is refused by its code', (_what, changes, code) =>
    expect(deposit(changes)).toBe(`invalid_batch_settlement_evm_${code}`),
  );

  it('that is missing is refused by its code', () =>
    expect(refusalOfDeposit(terms, { deposit: null }, NOW_S)).toBe('invalid_batch_settlement_evm_payload_type'));
});

const channel: JudgedChannel = {
  balanceMicro: 10_000n,
  claimedMicro: 1_000n,
  chargedMicro: 2_000n,
  reservedMicro: 500n,
  publishedMicro: 1_500n,
  withdrawRequestedAt: null,
  refundId: null,
};
const judge = (changes: Partial<JudgedChannel>, asked: Partial<Parameters<typeof judgeVoucher>[1]> = {}) =>
  judgeVoucher({ ...channel, ...changes }, { maxMicro: 2_600n, priceMicro: 100n, ...asked });

describe('a voucher on its channel', () => {
  it('for charged, in flight and price is admitted', () => {
    expect(judge({})).toEqual({ kind: 'admitted' });
    expect(judge({ balanceMicro: 2_600n })).toEqual({ kind: 'admitted' });
    expect(judge({ balanceMicro: 0n }, { depositMicro: 2_600n })).toEqual({ kind: 'admitted' });
  });

  it('of a channel that its deposit opens is admitted for exactly the price', () => {
    const asked = { maxMicro: 100n, priceMicro: 100n, depositMicro: 100n };
    expect(judgeVoucher(null, asked)).toEqual({ kind: 'admitted' });
    expect(judgeVoucher(null, { ...asked, maxMicro: 101n })).toMatchObject({
      reason: 'invalid_batch_settlement_evm_cumulative_amount_mismatch',
      isCorrected: false,
    });
  });

  it.each<[string, Partial<JudgedChannel>, Partial<Parameters<typeof judgeVoucher>[1]>, string, boolean]>([
    ['one unit short', {}, { maxMicro: 2_599n }, 'cumulative_amount_mismatch', true],
    ['one unit over', {}, { maxMicro: 2_601n }, 'cumulative_amount_mismatch', true],
    ['of an earlier call', {}, { maxMicro: 2_500n }, 'cumulative_amount_mismatch', true],
    ['that is public', {}, { maxMicro: 1_500n }, 'cumulative_amount_mismatch', false],
    ['one unit above the public one', {}, { maxMicro: 1_501n }, 'cumulative_amount_mismatch', true],
    ['that was claimed', {}, { maxMicro: 1_000n }, 'cumulative_below_claimed', false],
    [
      'below what was claimed, never published',
      { publishedMicro: 0n },
      { maxMicro: 900n },
      'cumulative_below_claimed',
      true,
    ],
    ['of nothing', {}, { maxMicro: 2_500n, priceMicro: 0n }, 'cumulative_amount_mismatch', true],
    ['above the balance', { balanceMicro: 2_599n }, {}, 'cumulative_exceeds_balance', false],
    ['above balance and deposit', { balanceMicro: 1n }, { depositMicro: 2_598n }, 'cumulative_exceeds_balance', false],
    ['while the payer withdraws', { withdrawRequestedAt: new Date(0) }, {}, 'missing_channel', false],
    ['while a refund is under way', { refundId: 'crf_1' }, {}, 'channel_busy', false],
    ['while more is claimed than charged', { claimedMicro: 2_501n }, {}, 'channel_busy', false],
    [
      'after a call that was claimed ahead has failed, until it is credited',
      { claimedMicro: 2_501n, publishedMicro: 2_501n },
      {},
      'channel_busy',
      false,
    ],
    ['after the last one was published', { publishedMicro: 2_501n }, {}, 'missing_channel', false],
    [
      'with a deposit, after the last one was published',
      { publishedMicro: 2_501n },
      { depositMicro: 9n },
      'missing_channel',
      false,
    ],
  ])('%s is refused by its code', (_what, changes, asked, code, isCorrected) =>
    expect(judge(changes, asked)).toEqual({
      kind: 'refused',
      reason: `invalid_batch_settlement_evm_${code}`,
      isCorrected,
    }),
  );

  it('of a channel without a deposit is refused', () =>
    expect(judgeVoucher(null, { maxMicro: 100n, priceMicro: 100n })).toEqual({
      kind: 'refused',
      reason: 'invalid_batch_settlement_evm_channel_not_found',
      isCorrected: false,
    }));
});
