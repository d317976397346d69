import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { createPayer } from './payer.ts';

/** Answers of services on the internet, as the node's tests have them. */
const folder = join(import.meta.dirname, '../../service/test/support/samples');
const payer = createPayer({ account: privateKeyToAccount(generatePrivateKey()), maxPerCall: '0.02' });
const url = 'https://service.example/x';

function headerOf(file: string): string {
  const { encoding, header } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  if (header === undefined) return '';
  const json = Buffer.from(JSON.stringify(header));
  return encoding === 'raw' ? json.toString() : json.toString(encoding);
}

/** Amount that is signed, or the refusal. */
const expected: Readonly<Record<string, string | RegExp>> = {
  'x402-01-duplicate-accepts.json': '500',
  'x402-02-header-without-resource.json': '1000',
  'x402-03-raw-json-header.json': '1000',
  'x402-04-base64url-unpadded.json': '10000',
  'x402-05-price-times-a-million.json': /no readable PAYMENT-REQUIRED header/,
  'x402-06-v1-template-no-extra.json': /no readable PAYMENT-REQUIRED header/,
  'x402-07-both-amounts-resource-inside.json': '1000',
  'x402-08-wrapped-permit2.json': /no readable PAYMENT-REQUIRED header/,
  'x402-09-v1-solana-fee-extra.json': /no readable PAYMENT-REQUIRED header/,
  'x402-10-extended-legacy-root.json': '10000',
  'x402-11-empty-accepts.json': /`accepts` of its PAYMENT-REQUIRED header is empty/,
};

describe('the payer reads terms as services write them', () => {
  it('is expected of every sample', () =>
    expect(globSync('x402-*.json', { cwd: folder }).sort()).toEqual(Object.keys(expected)));

  it.each(Object.entries(expected))('%s', async (file, told) => {
    const paying = payer.pay(headerOf(file), url);
    if (told instanceof RegExp) return expect(paying).rejects.toThrow(told);
    const { 'payment-signature': header = '' } = await paying;
    const { payload } = JSON.parse(Buffer.from(header, 'base64').toString());
    expect(payload.authorization.value).toBe(told);
  });

  it('and signs nothing for a price times a million', async () => {
    const terms = JSON.parse(Buffer.from(headerOf('x402-01-duplicate-accepts.json'), 'base64').toString());
    for (const accept of terms.accepts) accept.amount = `${accept.amount}000000`;
    await expect(payer.pay(Buffer.from(JSON.stringify(terms)).toString('base64'), url)).rejects.toThrow(
      'The call costs 500.00 USDC, and maxPerCall allows 0.02: nothing was paid',
    );
  });
});
