import { expect, it } from 'vitest';
import { onlyChannels } from './only-channels.ts';

const encode = (terms: unknown) =>
  btoa(Array.from(new TextEncoder().encode(JSON.stringify(terms)), (byte) => String.fromCharCode(byte)).join(''));
const decode = (header: string) =>
  JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(header), (char) => char.charCodeAt(0))));

it('leaves the offers of channels, and everything else as it is', () => {
  const [exact, channel] = [{ scheme: 'exact' }, { scheme: 'batch-settlement', amount: '5' }];
  const rest = { x402Version: 2, resource: { description: 'für „alle“ ✓' } };
  expect(decode(onlyChannels(encode({ ...rest, accepts: [exact, channel] })))).toEqual({ ...rest, accepts: [channel] });
});

it.each([[{ accepts: [{ scheme: 'exact' }] }], [{ accepts: [] }], [{}]])('refuses terms without one: %j', (terms) =>
  expect(() => onlyChannels(encode(terms))).toThrow('Nothing was signed'),
);

it('leaves what cannot be read to the payer', () => expect(onlyChannels('%%%')).toBe('%%%'));
