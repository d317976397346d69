import { expect, it } from 'vitest';
import { agentIdOf, agentMeant, agentSlug, type SlugTaker, slugOf } from './agent-slug.ts';

const id = 'agt_01k9xq3v7m2n8p4r6t0w5y1zab';

it.each([
  ['Summarizer', 'summarizer-01k9xq3v7m2n8p4r6t0w5y1zab'],
  ['  Été & Co. — v2 ', 'ete-co-v2-01k9xq3v7m2n8p4r6t0w5y1zab'],
  ['../../etc/passwd?x=%2f', 'etc-passwd-x-2f-01k9xq3v7m2n8p4r6t0w5y1zab'],
  ['翻訳', id],
  ['a'.repeat(120), `${'a'.repeat(60)}-01k9xq3v7m2n8p4r6t0w5y1zab`],
  [`${'a'.repeat(59)} b`, `${'a'.repeat(59)}-01k9xq3v7m2n8p4r6t0w5y1zab`],
])('the slug of %j leads back to its id', (name, slug) => {
  expect(agentSlug({ id, name })).toBe(slug);
  expect(agentIdOf(slug)).toBe(id);
});

it('a name that looks like the address of another agent keeps its own id at the end', () => {
  const other = 'agt_00000000000000000000000000';
  expect(agentIdOf(agentSlug({ id, name: `echo ${other.slice(4)}` }))).toBe(id);
});

it.each(['facets', 'agt_', 'AGT_01k9xq3v7m2n8p4r6t0w5y1zab', `x/${id}`, '-', ''])('%j names no agent', (part) => {
  expect(agentIdOf(part)).toBeNull();
});

it.each([
  ['Case Converter', 'case-converter'],
  ['  Été & Co. — v2 ', 'ete-co-v2'],
  ['Ｅｃｈｏ', 'echo'],
  ['ECHO', 'echo'],
  ['翻訳', null],
  ['Echo 翻訳', null],
  ['Εcho', null],
  ['auto', null],
  ['Search', null],
  ['!!!', null],
  [id.slice(4), null],
  [`echo ${id.slice(4)}`, null],
  [`${'a'.repeat(59)} b`, 'a'.repeat(59)],
])('the slug of the name %j is %j', (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});

const taker = (taken: string, name = 'Echo'): SlugTaker => ({
  id: `agt_${taken}`,
  accountId: taken.slice(0, 1),
  name,
  isRemoved: taken.endsWith('x'),
});

// Agents by account (a, b) and number, in the order in which they took the slug `echo`; removed ones end in x.
it.each([
  ['nobody has it', 'echo', [], []],
  ['one has it', 'echo', ['a1'], 'a1'],
  ['one has it, by its name', 'Echo', ['a1'], 'a1'],
  ['by its name in another case and width', ' ＥＣＨＯ', ['a1'], 'a1'],
  ['a second one has the name: the slug is of the first', 'echo', ['a1', 'b1'], 'a1'],
  ['a second one has the name: it is refused', 'Echo', ['a1', 'b1'], ['a1', 'b1']],
  ['the first is removed: its slug is of nobody else', 'echo', ['a1x', 'b1'], 'a1x'],
  ['the first is removed: its name is refused', 'Echo', ['a1x', 'b1'], ['b1']],
  ['the first is removed and nobody has the name', 'Echo', ['a1x'], []],
  ['its account registers it again', 'echo', ['a1x', 'b1', 'a2'], 'a2'],
  ['its account registers it again, by its name', 'Echo', ['a1x', 'a2'], 'a2'],
  ['its account has it twice', 'Echo', ['a1', 'a2'], ['a1', 'a2']],
] as const)('%s', (_, text, taken, meant) => {
  const found = agentMeant(
    text,
    taken.map((each) => taker(each)),
  );
  expect(found).toEqual(
    typeof meant === 'string' ? { id: `agt_${meant}` } : { ids: meant.map((each) => `agt_${each}`) },
  );
});

it('a renamed agent keeps its slug, and its former name is of nobody', () => {
  const takers = [taker('a1', 'Parrot'), taker('b1')];
  expect(agentMeant('echo', takers)).toEqual({ id: 'agt_a1' });
  expect(agentMeant('Echo', takers)).toEqual({ ids: ['agt_b1'] });
  expect(agentMeant('Echo!', [taker('a1')])).toEqual({ ids: [] });
});
