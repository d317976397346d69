import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type MadeUpChain, makeUpChain } from '../../support/made-up-chain.ts';
import { newOwner } from '../../support/registry-actions.ts';
import { newIndex, type TestIndex } from '../../support/registry-world.ts';

const AGENT = 'agt_01234567890123456789abcdef';
const uri = `https://a.example/agents/${AGENT}/registration.json`;
const other = `https://b.example/agents/${AGENT}/registration.json`;
const [registrant, receiver] = [newOwner(), newOwner()];

let index: TestIndex;
let chain: MadeUpChain;
beforeAll(async () => {
  const client = {
    head: () => chain.client.head(),
    chainId: () => chain.client.chainId(),
    blocksAt: (heights: readonly bigint[]) => chain.client.blocksAt(heights),
    logsIn: (from: bigint, to: bigint) => chain.client.logsIn(from, to),
  };
  index = await newIndex({ client });
});
beforeEach(async () => {
  chain = makeUpChain();
  await index.clear();
});
afterAll(() => index.stop());

const tokenAt = async (tokenId: bigint) => (await index.ctx.registryTokens.at(tokenId))?.token;
const own = (tokenId: bigint, value: string) => ({ tokenId, kind: 'owner', value }) as const;

/** The published registry asks a contract that registers to take its token before it logs the registration. */
it.each(['one read', 'a read per block'])(
  'the registrant that transfers a token in the same transaction counts as author of the URI, not the new holder (%s)',
  async (reads) => {
    chain.mine([own(1n, registrant), own(1n, receiver), { tokenId: 1n, kind: 'registered', value: uri }]);
    if (reads === 'a read per block') await index.reader.read();
    chain.mine([own(1n, newOwner())]);
    await index.reader.read();
    expect(await tokenAt(1n)).toMatchObject({ uri, uriBy: registrant, registeredBy: registrant });
    expect(await index.ctx.registryTokens.firstNaming(AGENT)).toEqual({ uri, by: registrant });
  },
);

it('a URI that is written after a transfer is said by the holder of that time', async () => {
  chain.mine([own(1n, registrant), { tokenId: 1n, kind: 'registered', value: 'https://a.example/' }]);
  chain.mine([own(1n, receiver), { tokenId: 1n, kind: 'uri', value: other }]);
  chain.mine([own(1n, registrant)]);
  await index.reader.read();
  expect(await tokenAt(1n)).toMatchObject({ uri: other, uriBy: receiver, owner: registrant });
  expect(await index.ctx.registryTokens.firstNaming(AGENT)).toEqual({ uri: other, by: receiver });
});
