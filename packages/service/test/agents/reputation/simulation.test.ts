import { describe, expect, it } from 'vitest';
import { cases } from './cases.ts';

describe('the reputation of an agent keeps its bounds', () => {
  it.each(cases.map((each) => [each.name, each] as const))('%s', (_name, { score, least, most }) => {
    const found = score();
    expect(found).toBeGreaterThanOrEqual(least);
    expect(found).toBeLessThanOrEqual(most);
  });
});
