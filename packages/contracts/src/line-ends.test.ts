import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLineEnds } from './line-ends.ts';

it('each CR, CRLF and LF ends one line, wherever the pieces are cut', () => {
  const pieces = fc.array(
    fc.array(fc.constantFrom('\r', '\n', 'a', ''), { maxLength: 4 }).map((each) => each.join('')),
  );
  fc.assert(
    fc.property(pieces, (texts) => {
      const toLf = createLineEnds();
      expect(texts.map(toLf).join('')).toBe(texts.join('').replace(/\r\n|\r/g, '\n'));
    }),
  );
});
