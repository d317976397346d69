import { RE2JS } from 're2js';

/** A regular expression of a schema. Its time is proportional to the text, for any pattern, as RE2 has no backtracking. */
export interface Pattern {
  /** Instructions of the compiled pattern: a character of text costs at most one step for each. */
  readonly size: number;
  test(text: string): boolean;
}

const MAX_LENGTH = 500;
const MAX_SIZE = 1000;
/** Characters that the ranges and classes of a pattern may cover as it is compiled: some milliseconds. */
const MAX_COVERED = 50_000;

/** Patterns of the schema that is being compiled, as the rules and several keywords need the same one. Each may grow to 8 MB. */
const ofThisSchema = new Map<string, Pattern | string>();

/** Frees the patterns that were compiled since, but for those that a schema holds. */
export const forgetPatterns = (): void => ofThisSchema.clear();

/** Compiles a pattern of a schema. Returns the reason when this node does not take it. */
export function compilePattern(source: string): Pattern | string {
  const known = ofThisSchema.get(source);
  if (known !== undefined) return known;
  const compiled = compile(source);
  ofThisSchema.set(source, compiled);
  return compiled;
}

function compile(source: string): Pattern | string {
  if (source.length > MAX_LENGTH) return `has more than ${MAX_LENGTH} characters`;
  const covered = coveredBy(source);
  if (covered > MAX_COVERED)
    return `is too large: its case-insensitive ranges and its classes cover ${covered} characters, ${MAX_COVERED} are allowed`;
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

const TOKEN = /\\u\{[0-9a-f]+\}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\.|./gisu;
const IGNORES_CASE = /\(\?[a-z]*i/;
/** A class of Unicode such as \\p{L}: the ranges that are copied; and the characters that are folded where case is ignored. */
const CLASS_RANGES = 700;
const CLASS_FOLDED = 20_000;
/** The last character that has another case. The compiler walks over every character of a range up to here. */
const LAST_FOLDED = 0x1e943;

/**
 * Estimates the cost of compiling a pattern, beyond its length: RE2 folds each character of a case-insensitive range, and copies the ranges
 * of a class each time. Ranges are found by text alone, so it also counts look-alikes outside of brackets.
 */
function coveredBy(source: string): number {
  const tokens = source.match(TOKEN) ?? [];
  const classes = tokens.filter((token) => token === '\\p' || token === '\\P').length;
  if (!IGNORES_CASE.test(source)) return classes * CLASS_RANGES;
  let covered = classes * CLASS_FOLDED;
  for (const [at, token] of tokens.entries())
    if (token === '-') covered += Math.max(0, toFolded(tokens[at + 1], LAST_FOLDED) - toFolded(tokens[at - 1], 0) + 1);
  return covered;
}

/** The character of a token, as far as ranges are folded; `ofHalf` for half of one, which is an end of some longer escape. */
function toFolded(token = '', ofHalf: number): number {
  const hex = /^\\[ux]\{?([0-9a-f]+)\}?$/i.exec(token)?.[1];
  if (hex === undefined) return Math.min(token.replace(/^\\(?=.)/su, '').codePointAt(0) ?? 0, LAST_FOLDED);
  const point = Number.parseInt(hex, 16);
  return point >= 0xd800 && point <= 0xdfff ? ofHalf : Math.min(point, LAST_FOLDED);
}
