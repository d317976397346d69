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
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

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

/** Renders a sentence with code between backticks, **strong** words, and [links](#within) the page. */
export function inline(text: string): Html {
  return html`${text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\(#\w+\))/).map((part) => {
    if (part.startsWith('`')) return html`<code>${part.slice(1, -1)}</code>`;
    const [, words, target] = /^\[(.+)\]\((#\w+)\)$/.exec(part) ?? [];
    if (words) return html`<a href="${target}">${words}</a>`;
    return part.startsWith('**') ? html`<strong>${part.slice(2, -2)}</strong>` : part;
  })}`;
}

/** Renders paragraphs, lists and fenced code of a Markdown subset, the one that our own texts use. The page sets headings. */
export function prose(text: string): Html {
  // Every second part is the inside of a code fence, which keeps its empty lines.
  const parts = text.trim().split(/^```\w*\n([\s\S]*?)\n```$/m);
  return html`${parts.map((part, index) =>
    index % 2 === 1
      ? codeBlock(part)
      : part
          .trim()
          .split(/\n{2,}/)
          .map(block),
  )}`;
}

/** Renders code that scrolls by itself when it is wider than the page, also by keyboard. */
export const codeBlock = (code: string): Html => html`<pre tabindex="0"><code>${code}</code></pre>`;

function block(text: string): Html | null {
  if (text === '') return null;
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
