const MAX_CHARS = 200;
/** Controls, characters that cannot be seen or change the direction of a text, and those that stand for none. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\uFFFC\uFFFD\s]+/gu;

/** The beginning of a text from elsewhere as one line of visible characters. */
export function excerptOf(text: string): string {
  const chars = Array.from(text.replace(UNSEEN, ' ').trim());
  return chars.length <= MAX_CHARS ? chars.join('') : `${chars.slice(0, MAX_CHARS).join('')}…`;
}
