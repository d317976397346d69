import { expect, it } from 'vitest';
import { checkInThread, judgeSchema } from './schema-thread.ts';

/** Each makes the largest use of a bound of the rules. */
const heaviest: [string, object, unknown[]][] = [
  [
    'a schema of 500 schemas',
    { properties: Object.fromEntries(Array.from({ length: 490 }, (_, at) => [`f${at}`, { minLength: 1 }])) },
    [],
  ],
  [
    'fifty patterns that unfold',
    { patternProperties: Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`x{980}${at}`, true])) },
    [],
  ],
  [
    'fifty case-insensitive ranges',
    {
      patternProperties: Object.fromEntries(
        Array.from({ length: 50 }, (_, at) => [`(?i:[\\u4e00-\\u9fff\\u1000-\\u7fff])${at}`, true]),
      ),
    },
    [],
  ],
  [
    'examples of many items that fit no choice',
    { properties: { list: { items: { anyOf: [{ type: 'null' }, { type: 'string' }, { type: 'object' }] } } } },
    Array.from({ length: 5 }, () => ({ list: Array(2500).fill(true) })),
  ],
];

it.each(heaviest)('%s holds the thread and not the event loop', async (_, schema, values) => {
  const before = { loop: process.threadCpuUsage(), all: process.cpuUsage() };
  const result = await judgeSchema(schema, values, 'owner');
  expect(result).toHaveProperty('checked');
  // Processor time, of which other programs take none: the thread of the event loop has less than half of the process's.
  const loop = process.threadCpuUsage(before.loop);
  const all = process.cpuUsage(before.all);
  expect(loop.user + loop.system).toBeLessThan((all.user + all.system) / 2);
});

it('a refusal is remembered: the same schema is not compiled again', async () => {
  const schema = {
    properties: Object.fromEntries(Array.from({ length: 490 }, (_, at) => [`f${at}`, { pattern: '(' }])),
  };
  const first = await judgeSchema(schema, [], 'owner');
  expect(first).toHaveProperty('refused');
  expect(await judgeSchema(schema, [], 'another')).toEqual(first);
});

it('an owner with many schemas is refused, and delays another by one at a time', async () => {
  const wide = (at: number) => ({
    title: `schema ${at}`,
    properties: Object.fromEntries(Array.from({ length: 490 }, (_, n) => [`f${n}`, { minLength: 1 }])),
  });
  const ended: string[] = [];
  const greedy = Array.from({ length: 40 }, (_, at) =>
    judgeSchema(wide(at), [], 'greedy').finally(() => ended.push('greedy')),
  );
  const honest = judgeSchema({ type: 'object' }, [{}], 'honest').finally(() => ended.push('honest'));
  const refused = (await Promise.allSettled(greedy)).filter(({ status }) => status === 'rejected');
  expect(refused.length).toBeGreaterThanOrEqual(20);
  expect(refused[0]).toMatchObject({ reason: { code: 'UNAVAILABLE' } });
  expect(await honest).toEqual({ checked: [[]] });
  expect(ended.filter((_, at) => at < ended.indexOf('honest')).length).toBeLessThanOrEqual(refused.length + 2);
});

it('a schema that was taken once and is not taken any more refuses values, and does not end the thread', async () => {
  const bomb = JSON.stringify({ properties: { a: { pattern: '(?i:[B-\u{1e940}])' } } });
  const of = { owner: 'owner', mayWait: true };
  expect(await checkInThread({ schema: bomb, value: { a: 'x' } }, of)).toBe('too_much');
  expect(await checkInThread({ schema: '{"required":["a"]}', value: {} }, of)).toEqual([
    { at: ['a'], message: 'is required' },
  ]);
});
