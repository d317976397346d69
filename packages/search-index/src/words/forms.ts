/** Endings by which forms of an English word differ, in two families; the longest first. */
const families = [
  ['ations', 'ators', 'ation', 'ating', 'ator', 'ates', 'ated', 'ate'],
  ['ations', 'ation', 'ions', 'ing', 'ion', 'ors', 'ers', 'ies', 'or', 'er', 'ed', 'es', 'e', 's', 'y', ''],
] as const;
const MIN_STEM = 4;
/** Minimum length of a word to take for a plural, and of one to spell in another way: shorter ones become other words. */
const MIN_PLURAL = 4;
const MIN_SPELLED = 5;

/** British and American spellings, each way. A form that no agent has does no harm. */
const spellings: readonly (readonly [RegExp, string])[] = [
  [/is(?=(?:e|es|ed|er|ers|ing|ation|ations|ator|ators)$)/, 'iz'],
  [/iz(?=(?:e|es|ed|er|ers|ing|ation|ations|ator|ators)$)/, 'is'],
  [/ys(?=(?:e|es|ed|er|ers|ing)$)/, 'yz'],
  [/yz(?=(?:e|es|ed|er|ers|ing)$)/, 'ys'],
  [/our(?=(?:s|ed|ing|ite|ites|al|ful|less)?$)/, 'or'],
  [/or(?=(?:s|ed|ing|ite|ites|al|ful|less)?$)/, 'our'],
  [/(?<=[bt])re(?=s?$)/, 'er'],
  [/(?<=[bt])er(?=s?$)/, 're'],
  [/ogue(?=s?$)/, 'og'],
  [/og(?=s?$)/, 'ogue'],
  [/ll(?=(?:ed|er|ers|ing)$)/, 'l'],
  [/(?<=[aeou])l(?=(?:ed|er|ers|ing)$)/, 'll'],
  [/ence(?=s?$)/, 'ense'],
  [/ense(?=s?$)/, 'ence'],
  [/amme(?=s?$)/, 'am'],
];

/** The word and its forms: of `translate` also `translation` and `translator`, of `colour` also `color`. */
export function formsOf(word: string): string[] {
  if (!/^[a-z]+$/.test(word)) return [word];
  const forms = inflectionsOf(word);
  return [...new Set([...forms, ...forms.flatMap(spelledOtherwise)])];
}

function inflectionsOf(word: string): string[] {
  for (const family of families) {
    const ending = family.find((each) => word.endsWith(each) && word.length - each.length >= MIN_STEM);
    const stem = word.slice(0, word.length - (ending ?? '').length);
    if (ending !== undefined) return [word, ...family.map((each) => stem + each), ...singularsOf(word)];
  }
  return word.length < 3 ? [word] : [word, `${word}s`, `${word}es`, ...singularsOf(word)];
}

const singularsOf = (word: string): string[] =>
  word.length < MIN_PLURAL ? [] : [/s$/, /es$/].filter((end) => end.test(word)).map((end) => word.replace(end, ''));

const spelledOtherwise = (word: string): string[] =>
  word.length < MIN_SPELLED
    ? []
    : spellings.filter(([from]) => from.test(word)).map(([from, to]) => word.replace(from, to));
