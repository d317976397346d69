/** A block of a text in Markdown. */
export type Block =
  | { readonly kind: 'heading' | 'paragraph' | 'quote'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly string[] };

/** A piece of a line. */
export type Piece =
  | { readonly kind: 'text' | 'bold' | 'code'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string };

/** Longer texts are shown as they are. */
const MAX_CHARS = 50_000;
const SIGNS = /^(?:#{1,6} |[-*] \S|\d{1,3}[.)] \S|```)|\*\*[^*\n]{1,500}\*\*|\[[^\]\n]{1,300}\]\(https?:/m;

/** True for a text that is worth showing as Markdown. */
export const isMarkdown = (text: string): boolean => text.length <= MAX_CHARS && SIGNS.test(text);

const kinds = [
  { kind: 'heading', pattern: /^#{1,6} +/ },
  { kind: 'quote', pattern: /^> ?/ },
  { kind: 'bullet', pattern: /^ {0,6}[-*] +/ },
  { kind: 'number', pattern: /^ {0,6}\d{1,3}[.)] +/ },
] as const;

/** Splits a text into blocks: headings, lists, code, quotes and paragraphs. */
export function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let code: string[] | null = null;
  let isOpen = false;
  for (const line of text.replaceAll('\r\n', '\n').split('\n')) {
    if (line.startsWith('```')) {
      if (code) blocks.push({ kind: 'code', text: code.join('\n') });
      code = code ? null : [];
      isOpen = false;
    } else if (code) code.push(line);
    else if (line.trim() === '') isOpen = false;
    else {
      addLine(blocks, line, isOpen);
      isOpen = true;
    }
  }
  return code ? [...blocks, { kind: 'code', text: code.join('\n') }] : blocks;
}

/** Adds a line to the last block if it goes on there, else as a new block. */
function addLine(blocks: Block[], line: string, isOpen: boolean): void {
  const last = isOpen ? blocks.at(-1) : undefined;
  const found = kinds.find(({ pattern }) => pattern.test(line));
  const text = found ? line.replace(found.pattern, '') : line;
  if (found?.kind === 'bullet' || found?.kind === 'number') {
    const isOrdered = found.kind === 'number';
    if (last?.kind === 'list' && last.isOrdered === isOrdered)
      blocks[blocks.length - 1] = { ...last, items: [...last.items, text] };
    else blocks.push({ kind: 'list', isOrdered, items: [text] });
    return;
  }
  const kind = found?.kind ?? 'paragraph';
  if (last?.kind === kind && kind !== 'heading') blocks[blocks.length - 1] = { ...last, text: `${last.text}\n${text}` };
  else blocks.push({ kind, text });
}

const PIECES = /(`[^`\n]{1,1000}`|\*\*[^*\n]{1,500}\*\*|\[[^\]\n]{1,300}\]\([^()\s]{1,1000}\))/;

/** Splits a line into plain, bold and code pieces, and links. */
export const piecesOf = (line: string): readonly Piece[] =>
  line
    .split(PIECES)
    .filter((part) => part !== '')
    .map((part): Piece => {
      const link = /^\[([^\]]+)\]\(([^()\s]+)\)$/.exec(part);
      if (link) return { kind: 'link', text: link[1] ?? '', href: link[2] ?? '' };
      if (/^`[^`]+`$/.test(part)) return { kind: 'code', text: part.slice(1, -1) };
      if (/^\*\*[^*]+\*\*$/.test(part)) return { kind: 'bold', text: part.slice(2, -2) };
      return { kind: 'text', text: part };
    });
