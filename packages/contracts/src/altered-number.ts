const [QUOTE, BACKSLASH, PLUS, MINUS, POINT, ZERO, NINE] = [34, 92, 43, 45, 46, 48, 57] as const;
/** Most texts have neither long numbers nor exponents, and are not looked through. */
const SUSPICIOUS = /\d{16}|\d[eE]/;
/** Every integer with fewer digits is kept, and every number with fewer characters. */
const LONG_INTEGER = 16;
const MIN_CHARS = '1e309'.length;
/** Between a key and its colon; with more of it, the path lacks the key. */
const MAX_SPACE = 100;
const MAX_SHOWN = 40;

export interface AlteredNumber {
  /** The number as written. */
  readonly number: string;
  /** Keys and indexes that lead to it, joined with dots. */
  readonly path: string;
}

/**
 * The first number of a valid JSON text that a parser would change into another number or null; null: there is none. JavaScript numbers are
 * doubles: integers beyond 2^53 lose digits, and numbers too large or too small become infinite or 0. Rounded fractions do not count.
 */
export function alteredNumber(text: string): AlteredNumber | null {
  if (!SUSPICIOUS.test(text)) return null;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (isDigit(code) || code === MINUS) {
      const end = endOfNumber(text, at);
      if (end - at >= MIN_CHARS && isAltered(text.slice(at, end)))
        return { number: text.slice(at, end), path: pathTo(text.slice(0, at)).join('.') };
      at = end;
    } else at += 1;
  }
  return null;
}

/** The fault of such a number, in words that follow its path. */
export function alteredProblem({ number }: AlteredNumber): string {
  const shown = number.length > MAX_SHOWN ? `${number.slice(0, MAX_SHOWN)}…` : number;
  return `is ${shown}, which a double cannot keep: send it as a string`;
}

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); at < text.length && code !== QUOTE; code = text.charCodeAt(at))
    at += code === BACKSLASH ? 2 : 1;
  return at + 1;
}

function endOfNumber(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    // Upper case: e and E.
    if (!isDigit(code) && code !== POINT && code !== PLUS && code !== MINUS && (code & 0xdf) !== 0x45) return at;
  }
  return text.length;
}

function isAltered(token: string): boolean {
  const isExponential = /[eE]/.test(token);
  if (!isExponential && token.length < LONG_INTEGER) return false;
  const value = Number(token);
  if (!Number.isFinite(value)) return true;
  if (value === 0) return /[1-9]/.test(token.replace(/[eE].*/, ''));
  const isInteger = !isExponential && !token.includes('.');
  return isInteger && !Number.isSafeInteger(value) && String(value) !== token;
}

/** The path of the value after the given beginning of a JSON text. */
function pathTo(before: string): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at = 0; at < before.length; ) {
    const sign = before[at];
    const end = sign === '"' ? endOfString(before, at) : at + 1;
    const last = path.at(-1);
    if (sign === '{') path.push('');
    else if (sign === '[') path.push(0);
    else if (sign === '}' || sign === ']') path.pop();
    else if (sign === ',' && typeof last === 'number') path[path.length - 1] = last + 1;
    else if (sign === '"' && /^\s*:/.test(before.slice(end, end + MAX_SPACE)))
      path[path.length - 1] = JSON.parse(before.slice(at, end));
    at = end;
  }
  return path;
}
