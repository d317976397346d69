import { expect, it } from 'vitest';
import { readObject } from './arguments.ts';

it.each(['12345678901234567890', '1e400'])(
  'input with a number that would reach the agent as another one is refused: %s',
  async (number) => {
    const reading = readObject(`{"a":[{"id":${number}}]}`, '--input', { isExact: true });
    await expect(reading).rejects.toThrow(`--input: a.0.id is ${number}`);
  },
);

it('numbers that stay as they are written are read', async () => {
  const input = { id: '12345678901234567890', n: 9007199254740991, price: 0.1 };
  expect(await readObject(JSON.stringify(input), '--input', { isExact: true })).toEqual(input);
});
