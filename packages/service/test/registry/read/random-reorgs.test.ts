import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MadeUpChain, makeUpChain, type Said } from '../../support/made-up-chain.ts';
import { newIndex, type TestIndex } from '../../support/registry-world.ts';

const RUNS = 12;

let index: TestIndex;
let fresh: TestIndex;
let chain: MadeUpChain;
const client = {
  head: () => chain.client.head(),
  chainId: () => chain.client.chainId(),
  blocksAt: (heights: readonly bigint[]) => chain.client.blocksAt(heights),
  logsIn: (from: bigint, to: bigint) => chain.client.logsIn(from, to),
};
beforeAll(async () => {
  index = await newIndex({ client });
  fresh = await newIndex({ client });
});
afterAll(async () => {
  await index.stop();
  await fresh.stop();
});

const tokenId = fc.bigInt({ min: 0n, max: 4n });
const address = fc.constantFrom('0xaa', '0xbb', '0xcc', '');
const said: fc.Arbitrary<Said> = fc.oneof(
  fc.record({ tokenId, kind: fc.constant('owner' as const), value: address }),
  fc.record({ tokenId, kind: fc.constant('registered' as const), value: fc.constantFrom('a', 'b') }),
  fc.record({ tokenId, kind: fc.constant('uri' as const), value: fc.constantFrom('c', 'd') }),
  fc.record({ tokenId, kind: fc.constant('wallet' as const), value: address }),
  fc.record({
    tokenId,
    kind: fc.constant('metadata' as const),
    value: fc.constantFrom('k', 'l', '__proto__'),
    bytes: fc.constantFrom('0x', '0x01', '0x02'),
  }),
);
const often = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

/** The chain loses blocks and gets others; then the index reads, from a machine that may be behind or refuse. */
const step = fc.record({
  rollBack: fc.oneof(fc.constant(0), fc.constantFrom(1, 2, 3, 5), often(10, 40, 400)),
  mine: fc.array(fc.array(said, { maxLength: 4 }), { maxLength: 5, size: 'max' }),
  mineEmpty: often(0, 1, 40, 300),
  lag: often(0, 1, 4),
  isSecret: fc.boolean(),
  limit: often(1000, 7, 1),
});

async function take({
  rollBack,
  mine,
  mineEmpty,
  lag,
  isSecret,
  limit,
}: typeof step extends fc.Arbitrary<infer S> ? S : never) {
  chain.rollBack(rollBack);
  for (const logs of mine) chain.mine(logs);
  mineMore(mineEmpty);
  chain.lag(lag, isSecret);
  chain.limit(limit);
  await index.reader.read();
  chain.lag(0, false);
  chain.limit(1000);
}

function mineMore(blocks: number): void {
  for (let more = 0; more < blocks; more++) chain.mine([]);
}

it(`whatever blocks come and go while it reads, the index ends as one that reads the chain once (${RUNS} random courses)`, async () => {
  const steps = fc.array(step, { minLength: 2, maxLength: 8, size: 'max' });
  const course = fc.asyncProperty(steps, async (taken) => {
    chain = makeUpChain();
    await index.clear();
    await fresh.clear();
    for (const each of taken) await take(each);
    // A head that is lower than what was read may only be behind: the chain has to go on.
    while ((await chain.client.head()).head.block <= ((await index.block()) ?? 0n)) chain.mine([]);
    await index.reader.read();
    await fresh.reader.read();
    expect(await index.rows()).toEqual(await fresh.rows());
    expect(await index.block()).toBe((await chain.client.head()).head.block);
  });
  await fc.assert(course, { numRuns: RUNS });
});
