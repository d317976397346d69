import { identiconOf } from '@agent-network/contracts/identicon';
import { escaped } from '../documents/html.ts';

/** Contents of a link preview. */
export interface PreviewCard {
  /** The agent of the picture; null: the card is the node's. */
  readonly id: string | null;
  readonly title: string;
  readonly lines: readonly string[];
  /** Name of the node. */
  readonly label: string;
}

export const PREVIEW_WIDTH = 1200;
export const PREVIEW_HEIGHT = 630;

const MARGIN = 80;
const ROOM = PREVIEW_WIDTH - 2 * MARGIN;
const TITLE_SIZES = [84, 72, 60, 52] as const;
const MAX_TITLE_LINES = 2;
const LINE_SIZE = 34;

/** The alphabets that the bundled font has. */
const DRAWABLE =
  /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Armenian}\p{Script=Georgian}\p{Nd}\p{P}\p{Sc}\p{Sm}\p{M} ]/u;

/** Text without characters that would be drawn as boxes; null when that would leave too little of it to be recognised. */
function drawable(text: string): string | null {
  const characters = [...text.replace(/\s+/g, ' ').trim()];
  const kept = characters.filter((character) => DRAWABLE.test(character));
  return kept.length > 0 && kept.length * 2 >= characters.length ? kept.join('').trim() : null;
}

/** Width in font sizes, rather too large: the text is not measured. */
const widthOf = (character: string): number =>
  /[iljtfrI.,:;'|! ()[\]-]/.test(character)
    ? 0.45
    : /[mwMW@%—]/.test(character)
      ? 1.1
      : /\p{Lu}/u.test(character)
        ? 0.82
        : 0.72;

const fits = (text: string, size: number): boolean =>
  [...text].reduce((sum, character) => sum + widthOf(character), 0) * size <= ROOM;

function cut(text: string, size: number): string {
  if (fits(text, size)) return text;
  const characters = [...text];
  while (characters.length > 1 && !fits(`${characters.join('')}…`, size)) characters.pop();
  return `${characters.join('').trimEnd()}…`;
}

/** Breaks text into lines of whole words; the last line takes the rest. */
function wrap(text: string, size: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && lines.length < MAX_TITLE_LINES - 1 && !fits(longer, size)) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

function titleOf(text: string): { readonly size: number; readonly lines: readonly string[] } {
  const smallest = TITLE_SIZES.at(-1) ?? LINE_SIZE;
  const size = TITLE_SIZES.find((each) => wrap(text, each).every((line) => fits(line, each))) ?? smallest;
  return { size, lines: wrap(text, size).map((line) => cut(line, size)) };
}

const IDENTICON = 140;

function identicon(id: string): string {
  const { hue, cells } = identiconOf(id);
  const squares = cells.map(({ x, y }) => `<rect x="${x + 1}" y="${y + 1}" width="1.02" height="1.02"/>`).join('');
  return `<g transform="translate(${PREVIEW_WIDTH - MARGIN - IDENTICON} 76) scale(${IDENTICON / 7})" fill="hsl(${hue}, 55%, 52%)"><rect width="7" height="7" rx="0.6" fill-opacity="0.16"/>${squares}</g>`;
}

/** The picture as SVG: shapes and escaped text, with no reference to anything outside of it. */
export function previewSvg({ id, title, lines, label }: PreviewCard): string {
  const { size, lines: titleLines } = titleOf(drawable(title) ?? 'An agent');
  const text = (y: number, fontSize: number, fill: string, content: string, weight = 400) =>
    `<text x="${MARGIN}" y="${y}" font-size="${fontSize}" font-weight="${weight}" fill="${fill}">${escaped(content)}</text>`;
  const titleY = 330 - (titleLines.length - 1) * size * 0.6;
  const below = titleY + (titleLines.length - 1) * size * 1.2 + 84;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${PREVIEW_WIDTH}" height="${PREVIEW_HEIGHT}" viewBox="0 0 ${PREVIEW_WIDTH} ${PREVIEW_HEIGHT}" font-family="DejaVu Sans">
<rect width="${PREVIEW_WIDTH}" height="${PREVIEW_HEIGHT}" fill="#fafafb"/><rect width="${PREVIEW_WIDTH}" height="16" fill="#4f46e5"/>
<g transform="translate(${MARGIN} 76) scale(2)"><rect width="32" height="32" rx="8" fill="#4f46e5"/><path d="M10 21 16 10l6 11z" fill="none" stroke="#fff" stroke-width="2"/><circle cx="16" cy="10" r="3" fill="#fff"/><circle cx="10" cy="21" r="3" fill="#fff"/><circle cx="22" cy="21" r="3" fill="#fff"/></g>
<text x="${MARGIN + 88}" y="119" font-size="32" fill="#5d5d6c">${escaped(cut(drawable(label) ?? 'agent-network', 40))}</text>
${id === null ? '' : identicon(id)}
${titleLines.map((line, at) => text(titleY + at * size * 1.2, size, '#17171f', line, 700)).join('')}
${lines
  .flatMap((line) => drawable(line) ?? [])
  .map((line, at) => text(below + at * 54, LINE_SIZE, at === 0 ? '#4338ca' : '#5d5d6c', cut(line, LINE_SIZE)))
  .join('')}
</svg>`;
}
