import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeJson, PreparedJson, preparedArray, prepareJson } from './prepared-json.ts';

const parsed = (value: unknown) => JSON.parse(encodeJson(value).toString());

describe('prepared JSON', () => {
  it('is copied as it is: spelling, spaces and characters beyond ASCII stay', () => {
    const text = '{ "b":1.50, "a" : "é🙂\\u00e9" }';
    const page = { first: 1, item: new PreparedJson(text), last: [new PreparedJson(Buffer.from(text))] };
    expect(encodeJson(page).toString()).toBe(`{"first":1,"item":${text},"last":[${text}]}`);
  });

  it('encodes as the plain values do, wherever it stands and whether as text or bytes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.jsonValue()), (value, items) => {
        const json = JSON.stringify(value);
        const prepared = items.map((item, nth) => {
          const text = JSON.stringify(item);
          return [text, Buffer.from(text), new PreparedJson(text.slice(0, 1), text.slice(1))][nth % 3] ?? text;
        });
        const page = { a: new PreparedJson(json), b: { c: [value, new PreparedJson(Buffer.from(json))] } };
        const plain = JSON.parse(JSON.stringify({ a: value, b: { c: [value, value] }, items }));
        expect(parsed({ ...page, items: preparedArray(prepared) })).toEqual(plain);
      }),
    );
  });

  it('of a large value is a part of another without a copy of it', () => {
    const large = Buffer.from(JSON.stringify('é'.repeat(1000)));
    const part = prepareJson({ a: 1, large: new PreparedJson(large) });
    expect(part.pieces).toContain(large);
    expect(part.bytes).toBe(encodeJson(part.value).length + 1000);
    expect(parsed([part])).toEqual([{ a: 1, large: 'é'.repeat(1000) }]);
  });

  it('is the same JSON to JSON.stringify, which does not know it', () => {
    expect(JSON.stringify({ a: preparedArray(['1', Buffer.from('"é"')]) })).toBe('{"a":[1,"é"]}');
  });

  it('leaves a value without any prepared part as text', () => {
    expect(encodeJson({ a: 'é' })).toBe('{"a":"é"}');
  });

  it('is found again after an encoding that failed', () => {
    const circle: unknown[] = [new PreparedJson('1')];
    circle.push(circle);
    expect(() => encodeJson(circle)).toThrow('circular');
    expect(JSON.stringify(new PreparedJson('[2]'))).toBe('[2]');
  });
});
