import fc from 'fast-check';
import { expect, it } from 'vitest';
import { startWatch } from '../../../test/support/watch.ts';
import { createLog } from './log.ts';

const of = (alphabet: string, length: number) =>
  fc.array(fc.constantFrom(...alphabet), { minLength: length, maxLength: length }).map((chars) => chars.join(''));
const HEX = '0123456789abcdef';
const WORD = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A secret, and a text with it as libraries, providers and people write it. */
const leak = fc.oneof(
  of(WORD, 32).chain((s) =>
    fc.constantFrom(
      [s, `HTTP request failed. URL: https://base.provider.example/v2/${s}`],
      [s, `https://node.quik.example/${s}/ answered 429`],
      [s, `wss://x.example/rpc/base?network=base&dkey=${s}`],
      [s, `GET https://x.example/?region=eu&whatever=${s}#x`],
      [s, `https://${s}:@x.example/`],
      [s, `postgres://app:pa/${s}@db.example:5432/main`],
      [s, `postgresql://db.example/main?user=a&password=${s}`],
      [s, `host=db PGPASSWORD=${s} user=app`],
      [s, `authorization: Bearer ${s}`],
      [s, `proxy says Basic ${s}`],
      [s, `Cookie: __Host-agent-network=${s}; other=${s}`],
      [s, `whsec_${s}+/=`],
      [s, `the token anr_${s} reads it`],
      [s, `payment eyJ4NDAyVmVyc2lvbiI6${s}`],
    ),
  ),
  of(WORD, 49).chain((s) => fc.constantFrom([s, `key ank_live_AAAABBBBCCCC_${s} was refused`], [s, `ank_test_${s}`])),
  of(HEX, 64).map((s) => [s, `invalid private key 0x${s}a?`]),
  of(HEX, 64).map((s) => [s, `SETTLEMENT_PRIVATE_KEY=0x${s}`]),
  of(HEX, 64)
    .filter((s) => /[a-f]/.test(s))
    .map((s) => [s, `seed ${s}`]),
  of(HEX, 130).map((s) => [s, `data: 0x${s}`]),
) as fc.Arbitrary<[string, string]>;

const outputOf = (write: (log: ReturnType<typeof createLog>) => void): string => {
  const lines: string[] = [];
  write(createLog({ level: 'debug', destination: { write: (line) => lines.push(line) } }));
  for (const line of lines) JSON.parse(line);
  return lines.join('');
};

it('no secret gets into the log, anywhere in a line', () => {
  fc.assert(
    fc.property(leak, ([secret, text]) => {
      const cause = Object.assign(new Error(text), { url: text, deep: [{ list: [text] }] });
      const written = outputOf((log) => {
        log.info(text);
        log.info({ [text]: 1, note: text, hash: [text] }, `it said ${text}`);
        log.error(cause);
        log.error({ err: new AggregateError([cause], text, { cause }) }, text);
        log.child({ at: text }).warn({ body: JSON.stringify({ hash: text, text }) });
      });
      expect(written).not.toContain(secret);
    }),
    { numRuns: 300 },
  );
});

it('hashes stay readable under the fields that hold them, and nowhere else', () => {
  fc.assert(
    fc.property(of(HEX, 64), of(HEX, 64), (one, other) => {
      const [a, b] = [`0x${one}`, `0x${other}`];
      const known = { hash: a, transactionHash: b, hashes: [a, b], deep: { nonce: a } };
      const read = (fields: object) => JSON.parse(outputOf((log) => log.info(fields)));
      expect(read(known)).toMatchObject(known);
      expect(read({ key: a, list: [b] })).toMatchObject({ key: '[redacted]', list: ['[redacted]'] });
    }),
    { numRuns: 50 },
  );
});

it('ids and reasons stay readable for operators', () => {
  const texts = [
    'https://node.example/agents/agt_01k8x7m2q5v9w3b4c6d8f0g2h4/registration.json answered 404',
    'https://node.example/.well-known/agent-network.json',
    'the wallet 0x833589fcd6edb6e08f4c7c32d4f71b54bda02913 of acc_01k8x7m2q5v9w3b4c6d8f0g2h4',
    'file:///app/packages/service/src/lib/guarded-fetch-exchange.ts:12',
    'GET /agents?limit=20&offset=10000',
    '115792089237316195423570985008687907853269984665640564039457584007913129639935',
  ];
  for (const text of texts) expect(JSON.parse(outputOf((log) => log.info(text))).msg).toBe(text);
});

it('a long text costs no more than a moment', () => {
  const texts = ['a-'.repeat(50_000), 'a'.repeat(100_000), '?token'.repeat(20_000), `0x${'0'.repeat(100_000)}`];
  const tookMs = startWatch();
  for (const text of texts) outputOf((log) => log.info(text));
  expect(tookMs()).toBeLessThan(2000);
});
