import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { unknownFields } from './unknown-fields.ts';

const schema = z
  .object({
    task: z.string(),
    maxCost: z.string().optional(),
    max_cost: z.string().optional(),
    input: z.record(z.string(), z.unknown()).default({}),
    rates: z.object({ perRequest: z.string(), perHour: z.string().nullish() }).optional(),
    list: z.array(z.object({ agentId: z.string() })).optional(),
    open: z.looseObject({ known: z.string() }).optional(),
    either: z.union([z.object({ deliveryId: z.string() }), z.object({ since: z.string() })]).optional(),
  })
  .refine(() => true);

describe('unknown fields of a body', () => {
  it.each([
    ['a known body', { task: 'x', maxCost: '1', max_cost: '1', rates: { perHour: null } }, []],
    ['anything in a free object', { input: { any: { thing: 1 } }, open: { more: 1 } }, []],
    ['a form of a union', { either: { since: 'x' } }, []],
    ['a name in other letters', { maxcost: '1' }, [{ path: 'maxcost', nearest: 'maxCost' }]],
    ['a name with two letters wrong', { maxCots: '1' }, [{ path: 'maxCots', nearest: 'maxCost' }]],
    ['a name that is like none', { colour: 1 }, [{ path: 'colour', nearest: null }]],
    [
      'a field of an object within',
      { rates: { per_request: '1' } },
      [{ path: 'rates.per_request', nearest: 'perRequest' }],
    ],
    [
      'a field of an element',
      { list: [{ agentId: 'a' }, { agent: 'b' }] },
      [{ path: 'list.1.agent', nearest: 'agentId' }],
    ],
    ['a field of no form of a union', { either: { sinse: 'x' } }, [{ path: 'either.sinse', nearest: 'since' }]],
    [
      'names of the prototype',
      JSON.parse('{"__proto__": {}, "constructor": 1}'),
      [
        { path: '__proto__', nearest: null },
        { path: 'constructor', nearest: null },
      ],
    ],
    ['no object', 'text', []],
    ['a list instead of an object', [{ colour: 1 }], []],
  ])('%s', (_name, body, found) => {
    expect(unknownFields(schema, body)).toEqual(found);
  });

  it('are counted up to twenty, and long names are not compared', () => {
    const body = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`${'x'.repeat(5000)}${index}`, 1]));
    expect(unknownFields(schema, body)).toHaveLength(20);
  });
});
