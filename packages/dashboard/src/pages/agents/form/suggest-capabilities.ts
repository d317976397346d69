const MAX_SUGGESTED = 3;
const MAX_CHARS = 64;
/** Words that share this much of their beginning are taken for forms of one word: translates, translation. */
const STEM_CHARS = 6;

const wordsIn = (text: string): readonly string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];

const isSameWord = (a: string, b: string): boolean =>
  a === b || (Math.min(a.length, b.length) >= STEM_CHARS && a.slice(0, STEM_CHARS) === b.slice(0, STEM_CHARS));

/**
 * Suggests capabilities for an agent without any: at most three of the known ones, if all their words are in the name or the description,
 * else the name as one capability. Empty if the name has no Latin letters or digits.
 */
export function suggestCapabilities(
  { name, description }: { readonly name: string; readonly description: string },
  known: readonly string[],
): readonly string[] {
  const words = wordsIn(`${name} ${description}`);
  const isIn = (capability: string) => {
    const parts = wordsIn(capability);
    return parts.length > 0 && parts.every((part) => words.some((word) => isSameWord(part, word)));
  };
  const shared = known.filter(isIn).slice(0, MAX_SUGGESTED);
  if (shared.length > 0) return shared;
  const own = wordsIn(name).join('-').slice(0, MAX_CHARS).replace(/-$/, '');
  return own === '' ? [] : [own];
}
