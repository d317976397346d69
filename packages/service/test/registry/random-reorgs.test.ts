import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MadeUpChain, makeUpChain, type Said } from '../support/made-up-chain.ts';
import { newIndex, type TestIndex } from '../support/registry-world.ts';

const RUNS = 60;

let index: TestIndex;
let fresh: TestIndex;
let chain: MadeUpChain;
const client = {
  head: () => chain.client.head(),
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
const blocks = fc.array(fc.array(said, { maxLength: 4 }), { maxLength: 6 });

type Happening =
  | { readonly mine: readonly (readonly Said[])[] }
  | { readonly mineEmpty: number }
  | { readonly rollBack: number }
  | { readonly read: { readonly lag: number; readonly isSecret: boolean; readonly limit: number } };
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ mine: blocks }) },
  { weight: 1, arbitrary: fc.record({ mineEmpty: fc.constantFrom(3, 40, 300) }) },
  { weight: 3, arbitrary: fc.record({ rollBack: fc.constantFrom(1, 2, 3, 5, 10, 400) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      read: fc.record({
        lag: fc.constantFrom(0, 0, 0, 1, 4),
        isSecret: fc.boolean(),
        limit: fc.constantFrom(1000, 7, 1),
      }),
    }),
  },
);

async function happen(what: Happening): Promise<void> {
  if ('mine' in what) for (const logs of what.mine) chain.mine(logs);
  else if ('mineEmpty' in what) for (let left = what.mineEmpty; left > 0; left--) chain.mine([]);
  else if ('rollBack' in what) chain.rollBack(what.rollBack);
  else {
    chain.lag(what.read.lag, what.read.isSecret);
    chain.limit(what.read.limit);
    await index.reader.read();
    chain.lag(0, false);
    chain.limit(1000);
  }
}

it(`whatever blocks come and go while it reads, the index ends as one that reads the chain once (${RUNS} random courses)`, async () => {
  const course = fc.asyncProperty(fc.array(happening, { maxLength: 16 }), async (happenings) => {
    chain = makeUpChain();
    await index.clear();
    await fresh.clear();
    for (const what of happenings) await happen(what);
    // A head that is lower than what was read may only be behind: the chain has to go on.
    for (let more = 0; more < 450; more++) chain.mine([]);
    await index.reader.read();
    await fresh.reader.read();
    expect(await index.rows()).toEqual(await fresh.rows());
    expect(await index.block()).toBe((await chain.client.head()).head.block);
  });
  await fc.assert(course, { numRuns: RUNS });
}, 120_000);
