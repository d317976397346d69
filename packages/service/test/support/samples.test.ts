import { expect, it } from 'vitest';
import { sample, samplesOf } from './samples.ts';

it('every sample file of the index is here', () => {
  const listed: { file: string }[] = sample('index');
  const here = ['card', 'reg', 'mcp', 'mip', 'x402'].flatMap(samplesOf);
  expect(here.map((name) => `${name}.json`).sort()).toEqual(listed.map(({ file }) => file).sort());
});
