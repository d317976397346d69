import { RE2JS } from 're2js';

/** A regular expression of a schema. It takes time in proportion to the text, whatever the pattern: RE2 has no backtracking. */
export interface Pattern {
  /** Instructions of the compiled pattern: a character of text costs at most one step for each. */
  readonly size: number;
  test(text: string): boolean;
}

const MAX_LENGTH = 500;
const MAX_SIZE = 1000;

/** Compiles a pattern of a schema. Returns the reason when this node does not take it. */
export function compilePattern(source: string): Pattern | string {
  if (source.length > MAX_LENGTH) return `has more than ${MAX_LENGTH} characters`;
  try {
    new RegExp(source, 'u');
  } catch {
    return 'is not a regular expression';
  }
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source));
    const size = compiled.programSize();
    if (size > MAX_SIZE) return `is too large: its repetitions unfold to ${size} instructions, ${MAX_SIZE} are allowed`;
    return { size, test: (text) => compiled.test(text) };
  } catch {
    return 'is not a regular expression of RE2: look-around and back-references are not supported';
  }
}
