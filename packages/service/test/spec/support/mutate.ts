import fc, { type Arbitrary } from 'fast-check';

const nasty: readonly unknown[] = [
  ...[null, true, 0, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER + 2, '', ' ', '\u0000', '\ud800', '💥'.repeat(50)],
  ...['-1', '1e3', '0.0000001', '99999999999999999999', '__proto__', '../..', "' or 1=1 --", '2026-02-30', '<script>'],
  ...[[], [null], [[[[]]]], {}, { constructor: 1 }, { $ref: '#' }, 'x'.repeat(20_000)],
];

const isContainer = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Every place in a value, the root first. */
function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (!isContainer(value)) return [path];
  return [path, ...Object.keys(value).flatMap((key) => placesIn(value[key], [...path, key]))];
}

function changeAt(value: unknown, [key, ...rest]: readonly string[], change: (old: unknown) => unknown): unknown {
  if (key === undefined) return change(value);
  if (!isContainer(value)) return value;
  const copy: Record<string, unknown> = Array.isArray(value) ? ([...value] as never) : { ...value };
  const changed = changeAt(copy[key], rest, change);
  if (changed === undefined) delete copy[key];
  else copy[key] = changed;
  return copy;
}

/** A value with one thing wrong: replaced, left out, put into a list, or with a field too many. */
export const mutated = (valid: Arbitrary<unknown>): Arbitrary<unknown> =>
  valid.chain((value) =>
    fc
      .record({
        place: fc.constantFrom(...placesIn(value)),
        change: fc.oneof(
          fc.constantFrom(...nasty).map((each) => () => each),
          fc.constant(() => undefined),
          fc.constant((old: unknown) => [old]),
          fc.constant((old: unknown) => (isContainer(old) ? { ...old, surplus: 1 } : `${JSON.stringify(old)} `)),
          fc.constant((old: unknown) => (typeof old === 'string' ? old.slice(1) : JSON.stringify(old))),
        ),
      })
      .map(({ place, change }) => changeAt(value, place, change)),
  );
