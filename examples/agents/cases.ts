const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** Words in the styles that names have in programs and titles. A capital after a small letter begins a word. */
export function inCases(phrase: string) {
  const words = (phrase.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ').match(/[\p{L}\p{N}]+/gu) ?? []).map((word) =>
    word.toLowerCase(),
  );
  return {
    camelCase: words.map((word, at) => (at === 0 ? word : capitalized(word))).join(''),
    snake_case: words.join('_'),
    'kebab-case': words.join('-'),
    'Title Case': words.map(capitalized).join(' '),
  };
}

/** The words of `input.text`, or of the task, in every style or in that of `input.style`. The node has checked the input's types. */
export function convertCases(task: string, { text, style = 'all' }: Readonly<Record<string, unknown>>) {
  const cases = inCases(typeof text === 'string' && text !== '' ? text : task);
  return Object.fromEntries(Object.entries(cases).filter(([name]) => style === 'all' || name === style));
}
