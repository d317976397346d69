import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ChainInfo } from '../../chain/chain-info.ts';
import { type BillAnswer, readAgentTerms } from './agent-terms.ts';

/** Answers of services on the internet that the node's agents may bill by (`test/support/samples`). */
const folder = join(import.meta.dirname, '../../../test/support/samples');
const files = globSync('x402-*.json', { cwd: folder }).sort();

const common = {
  isLocal: false,
  tokenVersion: '2',
  ledgerAsset: null,
  domainSeparator: '0x00',
  wallet: `0x${'0'.repeat(38)}ff`,
} as const;
const sepolia: ChainInfo = {
  ...{ ...common, chainId: 84_532, caip2: 'eip155:84532', name: 'base-sepolia', tokenName: 'USDC' },
  token: '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
};
const base: ChainInfo = {
  ...{ ...common, chainId: 8453, caip2: 'eip155:8453', name: 'base', tokenName: 'USD Coin' },
  token: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
};

function answerOf(file: string): BillAnswer {
  const { encoding, header, body } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const json = Buffer.from(JSON.stringify(header ?? null));
  const text = encoding === 'raw' ? json.toString() : json.toString(encoding ?? 'utf8');
  return { headers: header ? { 'payment-required': text } : {}, body: Buffer.from(JSON.stringify(body)) };
}

const read = (file: string, chain: ChainInfo, maxMicro = 20_000n) =>
  readAgentTerms({ chain, senders: [], registrar: null }, answerOf(file), maxMicro);

const payee = '0x7777777777777777777777777777777777777777';

/** What becomes of each: the amount that is paid, or the words that name field, value and remedy. */
const expected: Readonly<Record<string, bigint | readonly string[]>> = {
  'x402-01-duplicate-accepts.json': 500n,
  'x402-02-header-without-resource.json': 1_000n,
  'x402-03-raw-json-header.json': 1_000n,
  'x402-04-base64url-unpadded.json': 10_000n,
  'x402-05-price-times-a-million.json': ['accepts[0].network is "base"', 'offer the network "base-sepolia"'],
  'x402-06-v1-template-no-extra.json': ['accepts[0].asset is required (a string)'],
  'x402-07-both-amounts-resource-inside.json': 1_000n,
  'x402-08-wrapped-permit2.json': ['under `x402` with the scheme "permit2"', 'with the scheme "exact"'],
  'x402-09-v1-solana-fee-extra.json': ['accepts[0].network is "solana:mainnet"', 'offer the network "base-sepolia"'],
  'x402-10-extended-legacy-root.json': 10_000n,
  'x402-11-empty-accepts.json': ['`accepts` names nothing', 'offer the scheme "exact"'],
};

describe('a bill as services write it', () => {
  it('is expected of every sample', () => expect(files).toEqual(Object.keys(expected)));

  it.each(files)('%s is paid where it can be, or refused by field, value and remedy', (file) => {
    const terms = read(file, sepolia);
    const told = expected[file];
    if (typeof told === 'bigint') expect(terms).toMatchObject({ version: 2, amountMicro: told, payTo: payee });
    else for (const words of told ?? []) expect(terms).toMatchObject({ message: expect.stringContaining(words) });
  });

  it('takes the resource of the body when the header has none', () => {
    expect(read('x402-02-header-without-resource.json', sepolia)).toMatchObject({
      resource: { url: 'https://api.example.com/x' },
    });
  });

  it('that asks for a million times the price is not paid', () => {
    expect(read('x402-05-price-times-a-million.json', base)).toEqual({
      reason: 'bill_too_high',
      message: 'The agent bills 10000.00 USDC, which is more than the price of 0.02.',
    });
  });

  it('with two prices is not paid by either', () => {
    const { headers, body } = answerOf('x402-07-both-amounts-resource-inside.json');
    const header = Buffer.from(String(headers['payment-required']), 'base64').toString();
    const two = header.replace('"maxAmountRequired":"1000"', '"maxAmountRequired":"1000000"');
    const answer = { headers: { 'payment-required': Buffer.from(two).toString('base64') }, body };
    expect(readAgentTerms({ chain: sepolia, senders: [], registrar: null }, answer, 20_000n)).toMatchObject({
      message: expect.stringContaining('accepts[0].amount is "1000" and maxAmountRequired "1000000"'),
    });
  });
});
