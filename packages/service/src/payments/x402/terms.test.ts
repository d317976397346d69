import { usdcByChain } from '@agent-network/chain/addresses';
import { PaymentRequiredV1, PaymentRequiredV2, type RequirementsV2 } from '@agent-network/contracts/payments/x402';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChainInfo } from '../../chain/chain-info.ts';
import { createSecrets } from '../../lib/secrets.ts';
import { channelOnWire } from '../schemes/batch-settlement/channel-on-wire.ts';
import { exactOnWire } from '../schemes/exact/exact-on-wire.ts';
import { makeOffer, readOffer } from './terms.ts';
import type { Terms } from './x402-scheme.ts';

const chain: ChainInfo = {
  chainId: 84532,
  isLocal: false,
  caip2: 'eip155:84532',
  name: 'base-sepolia',
  token: usdcByChain[84532].toLowerCase(),
  tokenName: 'USDC',
  tokenVersion: '2',
  ledgerAsset: null,
  domainSeparator: `0x${'22'.repeat(32)}`,
  wallet: `0x${'33'.repeat(20)}`,
};
const secrets = createSecrets('a secret of at least thirty-two characters');
const node = { secrets, x402Schemes: [exactOnWire, channelOnWire] };
const NOW_S = 1_795_255_200;
const terms: Terms = {
  purpose: 'invocation',
  memo: 'req_1',
  target: 'agt_1',
  accountId: 'acc_1',
  amountMicro: 50_000n,
  resourceUrl: 'http://localhost/invoke/agt_1',
  description: 'Invocation of agent agt_1',
  expiresAtS: NOW_S + 900,
};
const expected = { purpose: terms.purpose, target: terms.target, accountId: terms.accountId, nowS: NOW_S };

const acceptedOf = (offered: Terms): RequirementsV2 =>
  makeOffer(node, [chain], offered, '').v2.accepts[0] as RequirementsV2;
const accepted = acceptedOf(terms);
const read = (shown: RequirementsV2, changes: Partial<typeof expected> = {}, by = secrets, on = chain) =>
  readOffer(on, by, shown, { ...expected, ...changes });

describe('an offer', () => {
  it('is known again with its memo and amount, whatever they are', () => {
    const anyTerms = fc.record({
      purpose: fc.constantFrom('invocation' as const, 'deposit' as const),
      memo: fc.string(),
      target: fc.string(),
      accountId: fc.string(),
      amountMicro: fc.bigInt(0n, 10n ** 18n),
      expiresAtS: fc.integer({ min: NOW_S + 1, max: 2 ** 40 }),
    });
    fc.assert(
      fc.property(anyTerms, ({ amountMicro, memo, ...rest }) => {
        const shown = acceptedOf({ ...terms, ...rest, memo, amountMicro });
        expect(read(shown, { purpose: rest.purpose, target: rest.target, accountId: rest.accountId })).toEqual({
          memo,
          amountMicro,
        });
      }),
    );
  });

  it('has the shape of both versions of x402', () => {
    const offer = makeOffer(node, [chain], terms, 'Payment required');
    expect(PaymentRequiredV2.parse(offer.v2)).toEqual(offer.v2);
    expect(PaymentRequiredV1.parse(offer.v1)).toEqual(offer.v1);
  });

  it('asks for a voucher beside, where the node takes channels: by version 2 only, in a header below 8 KB', () => {
    const withChannels = {
      ...chain,
      channels: { withdrawDelayS: 86_400, minDepositMicro: 100_000n, isOfferedToAll: true, longestCallS: 42_996 },
    };
    const correction = {
      channelState: {
        channelId: `0x${'cc'.repeat(32)}`,
        balance: '1000000',
        totalClaimed: '1000',
        withdrawRequestedAt: 0,
        refundNonce: '0',
        chargedCumulativeAmount: '2000',
      },
      voucherState: { signedMaxClaimable: '2000', signature: `0x${'ab'.repeat(65)}` },
    };
    const long = { ...terms, description: 'd'.repeat(300), alternativeId: 'agt_2', minAmountMicro: 1n };
    const { v1, v2 } = makeOffer(node, [withChannels], long, 'Payment required', correction);
    expect(v1?.accepts.map(({ scheme }) => scheme)).toEqual(['exact']);
    expect(v2.accepts.map(({ scheme }) => scheme)).toEqual(['exact', 'batch-settlement']);
    const [exact, channel] = v2.accepts as [RequirementsV2, RequirementsV2];
    expect(exact.extra.paymentFlow).toBe('upfront');
    expect(channel).toEqual({
      ...{ scheme: 'batch-settlement', network: exact.network, amount: exact.amount, asset: exact.asset },
      ...{ payTo: exact.payTo, maxTimeoutSeconds: exact.maxTimeoutSeconds },
      extra: {
        ...{ name: 'USDC', version: '2', memo: 'req_1', offer: exact.extra.offer, agentId: 'agt_2' },
        ...{ receiverAuthorizer: chain.wallet, withdrawDelay: 86_400, minDeposit: '500000' },
        ...correction,
      },
    });
    expect(readOffer(withChannels, secrets, channel, expected)).toEqual({ memo: 'req_1', amountMicro: 50_000n });
    expect(Buffer.from(JSON.stringify(v2)).toString('base64').length).toBeLessThan(8_192);
    const cheap = makeOffer(node, [withChannels], { ...terms, amountMicro: 9_999n }, 'Payment required');
    expect(cheap.v2.accepts[1]?.extra.minDeposit).toBe('100000');
    const deposit = makeOffer(node, [withChannels], { ...terms, purpose: 'deposit' }, 'Payment required');
    expect(deposit.v2.accepts.map(({ scheme }) => scheme)).toEqual(['exact']);
  });

  it('survives what clients do to it on the way: letters of addresses in another case, and keys of their own', () => {
    const checksummed = {
      ...accepted,
      payTo: accepted.payTo.toUpperCase().replace('0X', '0x'),
      asset: accepted.asset.toUpperCase().replace('0X', '0x'),
    };
    expect(read(checksummed)).not.toBeNull();
    expect(read({ ...accepted, extra: { ...accepted.extra, theirs: 1 } })).not.toBeNull();
  });

  it.each<[string, Partial<RequirementsV2>]>([
    ['amount', { amount: '49999' }],
    ['asset', { asset: `0x${'44'.repeat(20)}` }],
    ['recipient', { payTo: `0x${'44'.repeat(20)}` }],
    ['memo', { extra: { ...accepted.extra, memo: 'req_2' } }],
    ['memo that is no text', { extra: { ...accepted.extra, memo: 1 } }],
    ['missing code', { extra: { memo: 'req_1' } }],
    ['code without a time', { extra: { ...accepted.extra, offer: String(accepted.extra.offer).slice(11) } }],
    [
      'later end',
      { extra: { ...accepted.extra, offer: String(accepted.extra.offer).replace(/^\d+/, `${NOW_S + 901}`) } },
    ],
    ['nothing in it', { extra: {} }],
  ])('with another %s is not ours', (_what, change) => expect(read({ ...accepted, ...change })).toBeNull());

  it('with any character of its code changed is not ours', () => {
    const offer = String(accepted.extra.offer);
    fc.assert(
      fc.property(fc.nat(offer.length - 1), fc.stringMatching(/^[A-Za-z0-9_.-]$/), (at, character) => {
        const changed = offer.slice(0, at) + character + offer.slice(at + 1);
        const answer = read({ ...accepted, extra: { ...accepted.extra, offer: changed } });
        expect(answer === null).toBe(changed !== offer);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    { purpose: 'deposit' as const },
    { target: 'agt_2' },
    { target: 'agt_1?quote=qte_1' },
    { accountId: 'acc_2' },
  ])('is not good for %j', (changes) => expect(read(accepted, changes)).toBeNull());

  it('cannot be moved from one field to its neighbour', () => {
    const shown = acceptedOf({ ...terms, memo: 'a', target: 'bc' });
    expect(read({ ...shown, extra: { ...shown.extra, memo: 'ab' } }, { target: 'c' })).toBeNull();
  });

  it('of another node or another chain is not ours', () => {
    expect(read(accepted, {}, createSecrets('another secret of at least 32 characters'))).toBeNull();
    expect(read(accepted, {}, secrets, { ...chain, caip2: 'eip155:8453' })).toBeNull();
  });

  it('is good until the second before its end', () => {
    expect(read(accepted, { nowS: NOW_S + 899 })).not.toBeNull();
    expect(read(accepted, { nowS: NOW_S + 900 })).toBeNull();
  });
});
