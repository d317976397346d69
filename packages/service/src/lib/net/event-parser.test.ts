import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { startWatch } from '../../../test/support/watch.ts';
import { createEventParser } from './event-parser.ts';

const MIB = 1024 * 1024;
const lines = fc.constantFrom(
  ...['data: a', 'data:b', 'data', 'data:  c', 'data: {"d":1}', 'event: x', 'event:', 'id: 1', 'id: \0', 'id'],
  ...['retry: 1', ': said', 'other: e', 'datax: f', ' data: g', 'no field', '', ''],
);
const streams = fc
  .array(fc.tuple(lines, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 12 })
  .map((parts) => `${parts.flat().join('')}\n\n`);

it('reads of any stream what another parser reads, wherever it is cut', () => {
  fc.assert(
    fc.property(streams, fc.array(fc.nat(100)), (stream, cuts) => {
      const expected: object[] = [];
      createParser({ onEvent: ({ event, id, data }) => void expected.push({ event, id, data }) }).feed(stream);
      const places = [0, ...cuts.toSorted((a, b) => a - b), stream.length];
      const parser = createEventParser(MIB);
      const pieces = places.slice(1).map((to, at) => stream.slice(places[at], to));
      expect(pieces.flatMap((piece) => parser.feed(piece))).toEqual(expected);
    }),
  );
});

it.each([
  ['carriage returns', '\r'],
  ['lines that mean nothing', 'x\n'],
  ['data without an end', 'data\n'],
])('a megabyte of %s is read within a second', (_what, line) => {
  const tookMs = startWatch();
  createEventParser(MIB).feed(line.repeat(MIB / line.length));
  expect(tookMs()).toBeLessThan(1000);
});

it.each([
  ['in one line', ['data: ', ...Array.from({ length: 11 }, () => 'x'.repeat(100))]],
  ['in many', Array.from({ length: 11 }, () => `data: ${'x'.repeat(100)}\n`)],
])('an event that is too long %s ends the reading', (_how, pieces) => {
  const parser = createEventParser(1000);
  for (const piece of pieces) expect(parser.feed(piece)).toEqual([]);
  expect(parser.isTooLarge()).toBe(true);
  expect(parser.feed('\n\ndata: late\n\n')).toEqual([]);
});
