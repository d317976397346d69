const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const wordSegmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** A full stop after these belongs to the word: titles, initials and Latin abbreviations. */
const endsInAbbreviation = /(^|[\s("'“‘])(mr|mrs|ms|dr|prof|st|vs|fig|e\.g|i\.e|cf|approx|[A-Z])\.\s*$/i;

/** The paragraphs of a text: parts between blank lines, each on one line. */
export function paragraphsOf(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
    .filter((paragraph) => paragraph !== '');
}

/** The sentences of a text in order, by Unicode's rules (UAX 29), not broken after common abbreviations. */
export function sentencesOf(text: string): string[] {
  return paragraphsOf(text).flatMap((paragraph) => {
    const sentences: string[] = [];
    let open = '';
    for (const { segment } of sentenceSegmenter.segment(paragraph)) {
      open += segment;
      if (endsInAbbreviation.test(open)) continue;
      sentences.push(open.trim());
      open = '';
    }
    return open.trim() === '' ? sentences : [...sentences, open.trim()];
  });
}

/** The lower-case words of a text in order, by Unicode's rules. */
export function wordsOf(text: string): string[] {
  return [...wordSegmenter.segment(text)].flatMap(({ segment, isWordLike }) =>
    isWordLike ? [segment.toLowerCase()] : [],
  );
}

/** The words of a text in runs that nothing but blanks and hyphens interrupts. */
export function wordRunsOf(text: string): string[][] {
  const runs: string[][] = [[]];
  for (const { segment, isWordLike } of wordSegmenter.segment(text)) {
    if (isWordLike) runs.at(-1)?.push(segment.toLowerCase());
    else if (!/^[\s-]+$/.test(segment)) runs.push([]);
  }
  return runs.filter((run) => run.length > 0);
}
