import { z } from 'zod';

/**
 * Names and descriptions that strangers write and others trust by their look. No list of confusable characters is complete (UTS #39 lists
 * thousands), so invisible ones are refused, equal-looking ones are normalized (NFKC), and a word must use one alphabet.
 */

/** Between parts of one emoji, and where Arabic and Indic letters are joined or parted by rule, these are no hidden characters. */
const rightfulJoiners = [
  /(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?\uFE0F?)\u200D(?=\p{Extended_Pictographic})/gu,
  /(?<=\p{Extended_Pictographic})[\uFE0E\uFE0F]/gu,
  /(?<=[0-9#*])\uFE0F(?=\u20E3)/gu,
  /(?<=[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Sinhala}\p{Script=Malayalam}])[\u200C\u200D](?=[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Sinhala}\p{Script=Malayalam}])/gu,
];
const CONTROL = /\p{Cc}/u;
const CONTROL_IN_TEXT = /(?![\t\n\r])\p{Cc}/u;
/** Bidirectional marks, zero-width characters, fillers, tags, private-use characters and noncharacters. */
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\u2800\uFFFC]/u;
const STACKED = /^\p{M}|\p{M}{5}/u;
/** Characters that pages use as verification marks. */
const CHECK_MARK = /[\u2611\u2705\u2713\u2714\u{1F5F8}\u{1F5F9}\u{1F197}]/u;
/** Letters of phonetic alphabets, most of which look like plain ones. */
const PHONETIC = /[\u0250-\u02AF\u1D00-\u1DBF\uAB30-\uAB6F]/u;
/** Alphabets with letters that look like those of another. */
const alike: readonly (readonly [name: string, letters: RegExp])[] = [
  ['Latin', /\p{Script=Latin}/u],
  ['Cyrillic', /\p{Script=Cyrillic}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Armenian', /\p{Script=Armenian}/u],
  ['Cherokee', /\p{Script=Cherokee}/u],
  ['Coptic', /\p{Script=Coptic}/u],
  ['Lisu', /\p{Script=Lisu}/u],
  ['Georgian', /\p{Script=Georgian}/u],
  ['Canadian syllabic', /\p{Script=Canadian_Aboriginal}/u],
  ['Tifinagh', /\p{Script=Tifinagh}/u],
  ['Deseret', /\p{Script=Deseret}/u],
  ['Osage', /\p{Script=Osage}/u],
  ['Vai', /\p{Script=Vai}/u],
  ['Miao', /\p{Script=Miao}/u],
  ['Old Italic', /\p{Script=Old_Italic}/u],
  ['Gothic', /\p{Script=Gothic}/u],
  ['Runic', /\p{Script=Runic}/u],
  ['Lycian', /\p{Script=Lycian}/u],
];
/** Letters of other alphabets that look like Latin ones. */
const LATIN_LIKE = [
  'аАВсСԁеЕЅѕһНіІјЈКМоОрРԛԚТхХуУѵѴԝԜӏӀαΑΒΕΖΗιΙκΚΜνΝοΟρΡΤυΥχΧϲϹοհոսցօ',
  // Cherokee, in capitals and small letters.
  '\u13a0-\u13a2\u13a5\u13a9-\u13ac\u13b3\u13b7\u13bb\u13bd\u13c0\u13c2\u13c3\u13cf\u13d2\u13d4\u13d5\u13d9\u13da',
  '\u13de\u13df\u13e2\u13e6\u13e7\u13f3\u13f4\uab75\uab81\uab83\uab93\uaba9\uabaa\uabaf',
  // Coptic.
  '\u2c80\u2c82\u2c85\u2c8c\u2c8e\u2c92\u2c94\u2c98\u2c9a\u2c9e\u2c9f\u2ca2-\u2ca6\u2ca8\u2cac',
  // Lisu, whose letters are Latin capitals, upright or turned.
  '\ua4d0\ua4d1\ua4d3\ua4d4\ua4d6\ua4d7\ua4d9\ua4da\ua4dc\ua4dd\ua4df-\ua4e3\ua4e6\ua4e7\ua4ea-\ua4ec\ua4ee\ua4f0',
  '\ua4f2-\ua4f4',
].join('');
const READ_AS_LATIN = new RegExp(`^[${LATIN_LIKE}]+$`, 'u');
const FOREIGN_LETTERS =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/gu;

/** Returns the reason if a text hides something from its reader, else null. */
function hiddenIn(text: string, control: RegExp): string | null {
  const plain = rightfulJoiners.reduce((rest, joiner) => rest.replace(joiner, ''), text);
  if (!text.isWellFormed()) return 'holds halves of characters (lone surrogates)';
  if (control.test(text)) return 'holds control characters';
  if (HIDDEN.test(plain)) return 'holds characters that cannot be seen';
  return STACKED.test(plain) ? 'stacks marks on a character' : null;
}

/** Returns the reason if a name could be mistaken for another, else null. */
export function nameProblem(name: string): string | null {
  const hidden = hiddenIn(name, CONTROL);
  if (hidden !== null) return hidden;
  if (CHECK_MARK.test(name)) return 'holds a check mark: what is verified is shown beside the name';
  if (PHONETIC.test(name)) return 'holds phonetic letters that look like others';
  for (const word of name.split(/[^\p{L}\p{M}\p{N}]+/u)) {
    const [first, second] = alike.filter(([, letters]) => letters.test(word));
    if (first && second) return `mixes ${first[0]} and ${second[0]} letters in a word`;
  }
  const foreign = (name.match(FOREIGN_LETTERS) ?? []).join('');
  return READ_AS_LATIN.test(foreign) ? 'could be read as Latin letters, and is not' : null;
}

/** Spaces of all widths are one, and characters that are kept for compatibility are the plain ones. */
const asName = (name: string): string =>
  name
    .normalize('NFKC')
    .replace(/\p{Zs}+/gu, ' ')
    .replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');

const without = (problemOf: (text: string) => string | null) => (context: z.core.ParsePayload<string>) => {
  const problem = problemOf(context.value);
  if (problem !== null) context.issues.push({ code: 'custom', message: problem, input: context.value });
};

/** Most characters that become one when a text is normalised. */
const MAX_COMPOSED = 4;

/**
 * Normalizes a text that may fit afterwards. A longer one is refused unread: normalizing a megabyte of combining marks or white space would
 * take minutes.
 */
const ifShort = (maxLength: number, normalise: (text: string) => string) => (text: string) =>
  text.length > MAX_COMPOSED * maxLength ? text : normalise(text);

/** A name or label on one line, normalized; refuses names that could be mistaken for another. */
export const nameText = (maxLength: number) =>
  z.string().overwrite(ifShort(maxLength, asName)).max(maxLength, { abort: true }).check(without(nameProblem));

/** A text of several lines, normalized; refuses text with hidden content. */
export const displayText = (maxLength: number) =>
  z
    .string()
    .overwrite(ifShort(maxLength, (text) => text.normalize('NFC')))
    .max(maxLength, { abort: true })
    .check(without((text) => hiddenIn(text, CONTROL_IN_TEXT)));
