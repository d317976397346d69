import { describe, expect, it } from 'vitest';
import type { ChainInfo } from '../../chain/chain-info.ts';
import { type BillAnswer, readAgentTerms } from './agent-terms.ts';

const chain: ChainInfo = {
  chainId: 8453,
  isLocal: false,
  caip2: 'eip155:8453',
  name: 'base',
  token: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  tokenName: 'USD Coin',
  tokenVersion: '2',
  ledgerAsset: null,
  domainSeparator: '0x00',
  wallet: '0x00000000000000000000000000000000000000ff',
};
const PAYEE = '0x52908400098527886E0F7030069857D2E4169EE7';
const SENDER = '0x00000000000000000000000000000000000000ee';
const REGISTRAR = '0x00000000000000000000000000000000000000dd';
const PRICE = 50_000n;

const good = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '30000',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: PAYEE,
  maxTimeoutSeconds: 120,
  extra: { name: 'USD Coin', version: '2' },
};
const { amount, ...rest } = good;
const goodV1 = { ...rest, network: 'base', maxAmountRequired: amount };

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
const v2 = (accepts: unknown, more: object = {}): BillAnswer => ({
  headers: { 'payment-required': encoded({ x402Version: 2, accepts, ...more }) },
  body: Buffer.from('{}'),
});
const v1 = (accepts: unknown): BillAnswer => ({
  headers: {},
  body: Buffer.from(JSON.stringify({ x402Version: 1, accepts })),
});
const read = (answer: BillAnswer) =>
  readAgentTerms({ chain, senders: [{ address: SENDER }], registrar: { address: REGISTRAR } }, answer, PRICE);
const extra = (more: object) => ({ ...good, extra: { ...good.extra, ...more } });

describe('terms that are taken', () => {
  const taken = { amountMicro: 30_000n, payTo: PAYEE.toLowerCase(), windowS: 120 };
  it('of version 2, with what a payment echoes, as it was written', () => {
    const resource = { url: 'https://agent.example/' };
    expect(read(v2([good], { resource, extensions: { a: {} } }))).toEqual({
      ...taken,
      version: 2,
      accepted: good,
      resource,
      extensions: { a: {} },
    });
  });
  it('of version 1', () => {
    expect(read(v1([goodV1]))).toMatchObject({ ...taken, version: 1, accepted: goodV1 });
  });
  it('of version 2 when an answer has both, as stock clients read it', () => {
    expect(read({ ...v2([good]), body: v1([goodV1]).body })).toMatchObject({ version: 2 });
  });
  it.each([
    ['an upfront flow', extra({ paymentFlow: 'upfront' })],
    ['EIP-3009 by name', extra({ assetTransferMethod: 'eip3009' })],
    ['more than is known', { ...extra({ memo: 'x' }), somethingNew: [1] }],
    ['exactly the price', { ...good, amount: '50000' }],
  ])('with %s', (_name, entry) => {
    expect(read(v2([entry]))).toMatchObject({ accepted: entry });
  });
  it('the cheapest of those that can be paid, the first of equals', () => {
    const [dear, cheap] = [{ ...good, amount: '40000' }, extra({ which: 'first' })];
    const other = { ...good, network: 'eip155:1', amount: '1' };
    expect(read(v2([other, dear, cheap, extra({ which: 'second' })]))).toMatchObject({ accepted: cheap });
  });
});

describe('terms that are refused', () => {
  it('above the price, however little', () => {
    expect(read(v2([{ ...good, amount: '50001' }]))).toEqual({
      reason: 'bill_too_high',
      message: 'The agent bills 0.050001 USDC, which is more than the price of 0.05.',
    });
  });
  it.each([
    ['another scheme', { ...good, scheme: 'upto' }, 'scheme'],
    ['another network', { ...good, network: 'eip155:84532' }, 'network'],
    ['the v1 name of the network', { ...good, network: 'base' }, 'network'],
    ['another token', { ...good, asset: PAYEE }, 'token'],
    ['another name of the token', extra({ name: 'USDC' }), '"USD Coin"'],
    ['another version of the token', extra({ version: '1' }), 'version "2"'],
    ['no name of the token', { ...good, extra: undefined }, '"USD Coin"'],
    ['Permit2', extra({ assetTransferMethod: 'permit2' }), 'EIP-3009'],
    ['an escrow', extra({ paymentFlow: 'escrow' }), 'flow'],
    ['nothing', { ...good, amount: '0' }, 'nothing'],
    ['the zero address', { ...good, payTo: `0x${'0'.repeat(40)}` }, 'zero address'],
    ['the token as recipient', { ...good, payTo: chain.token }, 'address of the token'],
    ["the node's wallet", { ...good, payTo: chain.wallet }, "node's own wallet"],
    ['the key that writes to the registry', { ...good, payTo: REGISTRAR }, "one of the node's own keys"],
    ['a key that sends for the node', { ...good, payTo: SENDER }, "one of the node's own keys"],
    ['a mistyped recipient', { ...good, payTo: PAYEE.replace('E7', 'e7') }, 'checksum'],
    ['no address', { ...good, payTo: 'agent.eth' }, 'malformed'],
    ['a negative amount', { ...good, amount: '-1' }, 'malformed'],
    ['a decimal amount', { ...good, amount: '0.03' }, 'malformed'],
    ['an amount that is a number', { ...good, amount: 30_000 }, 'malformed'],
    ['no time at all', { ...good, maxTimeoutSeconds: 0 }, 'malformed'],
    ['the amount under the name of v1', { ...rest, maxAmountRequired: '30000' }, 'malformed'],
    ['more than a header holds', extra({ memo: 'x'.repeat(5000) }), 'too large'],
    ['more levels than anybody needs', extra({ deep: JSON.parse('['.repeat(50) + ']'.repeat(50)) }), 'too large'],
  ])('%s', (_name, entry, word) => {
    const read2 = read(v2([entry]));
    expect(read2).toMatchObject({ reason: 'bill_not_payable' });
    expect('message' in read2 && read2.message).toContain(word);
  });
  it.each([
    ['none', { headers: {}, body: Buffer.from('pay me') }],
    ['a header that is no JSON', { headers: { 'payment-required': '%%%' }, body: v1([goodV1]).body }],
    [
      'a header of version 1',
      { headers: { 'payment-required': encoded({ x402Version: 1, accepts: [good] }) }, body: Buffer.from('') },
    ],
    ['several headers', { headers: { 'payment-required': ['a', 'b'] }, body: Buffer.from('') }],
    ['a body of version 2', { headers: {}, body: Buffer.from(JSON.stringify({ x402Version: 2, accepts: [good] })) }],
    ['accepts that is no list', v2('exact')],
    ['accepts of nothing', v2([])],
    ['accepts of no objects', v2([null, 1, 'x', []])],
  ])('%s', (_name, answer) => {
    expect(read(answer)).toMatchObject({ reason: 'bill_not_payable' });
  });
});
