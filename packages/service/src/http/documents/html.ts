/** Text that is markup already: made by `html`, never from data. */
class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Html = Markup;
type Part = Markup | string | number | null | undefined | readonly Part[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** Escapes text for HTML and SVG, also inside of quoted attributes. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

function write(part: Part): string {
  if (part === null || part === undefined) return '';
  if (part instanceof Markup) return part.text;
  return Array.isArray(part) ? part.map(write).join('') : escaped(String(part));
}

/** Template tag for markup: escapes every value that is not markup itself, also inside quoted attributes. */
export const html = (texts: TemplateStringsArray, ...parts: Part[]): Html =>
  new Markup(texts.map((text, index) => text + (index < parts.length ? write(parts[index]) : '')).join(''));

/** Returns the page as text. */
export const toText = (page: Html): string => page.text;

/** Renders a sentence with code between backticks, **strong** words, and [links](#within) the documentation, the node and the web. */
export function inline(text: string): Html {
  return html`${text
    .split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\((?:#[\w-]+|\/[\w./-]+|https:\/\/[^)\s]+)\))/)
    .map((part) => {
      if (part.startsWith('`')) return html`<code>${part.slice(1, -1)}</code>`;
      const [, words, target] = /^\[([\s\S]+)\]\((.+)\)$/.exec(part) ?? [];
      if (words) return html`<a href="${target}">${inline(words)}</a>`;
      return part.startsWith('**') ? html`<strong>${inline(part.slice(2, -2))}</strong>` : part;
    })}`;
}

/**
 * Renders paragraphs, lists, tables, headings, fenced code and flows of a Markdown subset, the one that our own texts use. `top` is the level of
 * the headings that are written with three signs; with `prefix` they have ids, which start with it.
 */
export function prose(text: string, top: 2 | 3 = 3, prefix = ''): Html {
  // After each text the language of a code fence and its inside, which keeps its empty lines.
  const parts = text.trim().split(/^```(\w*)\n([\s\S]*?)\n```$/m);
  const rendered: Html[] = [];
  let fences: Code[] = [];
  for (let at = 0; at < parts.length; at += 3) {
    const [words = '', language = '', code] = parts.slice(at, at + 3);
    if (words.trim() !== '') {
      rendered.push(
        ...codeBlocks(fences),
        html`${words
          .trim()
          .split(/\n{2,}/)
          .map((each) => block(each, top, prefix))}`,
      );
      fences = [];
    }
    if (code !== undefined && language === 'flow') rendered.push(...codeBlocks(fences.splice(0)), flow(code));
    else if (code !== undefined) fences.push({ language: languageNames[language] ?? language, code });
  }
  return html`${[...rendered, ...codeBlocks(fences)]}`;
}

interface Code {
  readonly language: string;
  readonly code: string;
}

const languageNames: Readonly<Record<string, string>> = { sh: 'curl', ts: 'TypeScript', python: 'Python' };

/** Fences that follow each other in different languages say the same: a reader chooses one. */
function codeBlocks(fences: readonly Code[]): Html[] {
  const isChoice = fences.length > 1 && new Set(fences.map(({ language }) => language)).size === fences.length;
  return isChoice ? [sampleBlock(fences)] : fences.map(({ code }) => codeBlock(code));
}

/** Renders the same in several languages, one under the other; the script of the page shows one of them. */
export const sampleBlock = (samples: readonly Code[]): Html =>
  html`<div class="samples">${samples.map(
    ({ language, code }) =>
      html`<div class="sample" data-language="${language}"><span class="language">${language}</span>${codeBlock(code)}</div>`,
  )}</div>`;

/** Renders code that scrolls by itself when it is wider than the page, also by keyboard. */
export const codeBlock = (code: string): Html => html`<pre tabindex="0"><code>${code}</code></pre>`;

/** Renders each line of `One -- what it sends --> Other <-- what it gets -- Third` as a row of boxes and arrows. */
function flow(text: string): Html {
  const row = (line: string) => {
    const parts = line.split(/ (-- .+? -->|<-- .+? --) /);
    return html`<div class="row">${parts.map((part, at) => {
      if (at % 2 === 0) return html`<span class="box">${part}</span>`;
      const words = part.replace(/^<?-- | --(?:>)?$/g, '');
      return html`<span class="arrow${part.startsWith('<') ? ' back' : ''}">${words}</span>`;
    })}</div>`;
  };
  return html`<div class="flow">${text.split('\n').map(row)}</div>`;
}

/** The id that GitHub gives to a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-');

function block(text: string, top: 2 | 3, prefix: string): Html | null {
  if (text === '') return null;
  const [, level = '', heading] = /^(###+) (.+)$/.exec(text) ?? [];
  if (heading) {
    const id = prefix === '' ? null : html` id="${prefix}-${anchorOf(heading)}"`;
    const words = inline(heading);
    return level === '###' && top === 2 ? html`<h2${id}>${words}</h2>` : html`<h3${id}>${words}</h3>`;
  }
  if (text.startsWith('| ')) return table(text.split('\n'));
  if (/^1\. /.test(text))
    return html`<ol>${text.split(/\n(?=\d+\. )/).map((item) => html`<li>${inline(item.replace(/^\d+\. /, ''))}</li>`)}</ol>`;
  if (/^- /.test(text))
    return html`<ul>${text.split(/\n(?=- )/).map((item) => html`<li>${inline(item.slice(2))}</li>`)}</ul>`;
  return html`<p>${inline(text)}</p>`;
}

const unsafeInScript = /[<>&\u2028\u2029]/g;

/** A block of JSON-LD: nothing in it can end the element or open a comment. It is data, and no script. */
export const jsonLd = (value: unknown): Html =>
  new Markup(
    `<script type="application/ld+json">${JSON.stringify(value).replace(
      unsafeInScript,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )}</script>`,
  );

const cellsOf = (line: string) =>
  line
    .slice(1, line.lastIndexOf('|'))
    .split(' | ')
    .map((cell) => cell.trim());

function table([head = '', , ...rows]: readonly string[]): Html {
  const row = (line: string) =>
    html`<tr>${cellsOf(line).map((cell, at) => (at === 0 ? html`<th scope="row">${inline(cell)}</th>` : html`<td>${inline(cell)}</td>`))}</tr>`;
  return html`<div class="scroll" tabindex="0"><table class="plain"><thead><tr>${cellsOf(head).map((cell) => html`<th scope="col">${inline(cell)}</th>`)}</tr></thead>
<tbody>${rows.map(row)}</tbody></table></div>`;
}
