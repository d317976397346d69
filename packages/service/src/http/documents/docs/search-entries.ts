/** A part of the documentation as the search finds it. */
export interface SearchEntry {
  /** Its address. */
  readonly id: string;
  readonly title: string;
  readonly page: string;
  readonly text: string;
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** The words of a piece of a page, without its markup. */
const wordsOf = (markup: string) =>
  markup
    .replaceAll(/<wbr>/g, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Examples of answers repeat what the tables say; samples differ in names only. */
const withoutExamples = (markup: string) =>
  markup
    .replaceAll(/<details><summary>Example[\s\S]*?<\/details>/g, '')
    .replaceAll(/(<details id="event-[\s\S]*?<\/summary>)[\s\S]*?(?=<\/details>)/g, '$1')
    .replaceAll(/<div class="samples">[\s\S]*?<\/div><\/div>/g, '');

/** Every section of the pages that has an address and a heading, with its words. */
export function searchEntries(pages: ReadonlyMap<string, string>): SearchEntry[] {
  return [...pages].flatMap(([path, text]) => {
    const page = wordsOf(/<h1>([\s\S]*?)<\/h1>/.exec(text)?.[1] ?? '');
    const [, main = ''] = /<main[^>]*>([\s\S]*)<div class="turn">/.exec(text) ?? [];
    const parts = main.split(/(?=<section[^>]* id=")/);
    return parts.flatMap((part) => {
      const [, id] = /^<section[^>]* id="([^"]+)"/.exec(part) ?? [];
      if (id === undefined || id === 'overview') return [];
      const isGuide = part.startsWith('<section class="guide"');
      const [, heading = page] =
        isGuide && !part.includes(`id="${id}"><h2>`) ? [] : (/<h[23]>([\s\S]*?)<\/h[23]>/.exec(part) ?? []);
      const words = wordsOf(withoutExamples(part));
      return words === '' ? [] : [{ id: `${path}#${id}`, title: wordsOf(heading), page, text: words }];
    });
  });
}
