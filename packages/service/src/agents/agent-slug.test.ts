import { expect, it } from 'vitest';
import { agentIdOf, agentSlug } from './agent-slug.ts';

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
