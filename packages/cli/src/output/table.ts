export interface Column<T> {
  readonly title: string;
  readonly value: (row: T) => string;
  /** Cut first when the terminal is too narrow. */
  readonly isFlexible?: boolean;
  readonly alignsRight?: boolean;
}

const GAP = '  ';
const MIN_FLEXIBLE_WIDTH = 8;

/** Visible width of a text: a character is one column, a wide one (East Asian, emoji) two; marks and controls none. */
export function widthOf(text: string): number {
  let width = 0;
  for (const char of text.normalize('NFC')) {
    if (/\p{Mark}|\p{Control}/u.test(char)) continue;
    width +=
      /\p{Extended_Pictographic}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u.test(
        char,
      )
        ? 2
        : 1;
  }
  return width;
}

function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  for (const char of text) {
    if (widthOf(kept + char) > width - 1) break;
    kept += char;
  }
  return `${kept}…`;
}

const pad = (text: string, width: number, alignsRight: boolean) => {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  return alignsRight ? space + text : text + space;
};

/**
 * Text of several lines without control characters, which could rewrite the screen or reach the clipboard. The colors of this program stay
 * (2, 31 and 32, and their ends).
 */
export const withoutControls = (text: string): string =>
  text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's own language is looked for
    /(\u001b\[(?:2|22|31|32|39)m)|(?![\t\n])[\p{Control}\p{Bidi_Control}]/gu,
    (_found, color: string | undefined) => color ?? '',
  );

/** JSON in which no character is left that a terminal obeys. */
export const escapedControls = (json: string | undefined): string =>
  (json ?? 'null').replace(
    /[\u007f-\u009f\p{Bidi_Control}]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Text of strangers on one line, without control characters, which could rewrite the screen. */
export const oneLine = (text: string): string => text.replace(/[\p{Control}\p{Bidi_Control}]+/gu, ' ').trim();

/** Lays rows out in columns. `columns`: the width of the terminal; null: as wide as needed. The last columns are left out of a narrow one. */
export function formatTable<T>(rows: readonly T[], table: readonly Column<T>[], columns: number | null): string {
  const cells = rows.map((row) => table.map(({ value }) => oneLine(value(row))));
  const widths = table.map(({ title }, index) =>
    Math.max(widthOf(title), ...cells.map((row) => widthOf(row[index] ?? ''))),
  );
  if (columns !== null) shrink(widths, table, columns);
  if (columns !== null && table.length > 1 && excessOf(widths, columns) > 0)
    return formatTable(rows, table.slice(0, -1), columns);
  const line = (values: readonly string[]) =>
    values
      .map((value, index) =>
        pad(cut(value, widths[index] ?? 0), widths[index] ?? 0, table[index]?.alignsRight ?? false),
      )
      .join(GAP)
      .trimEnd();
  return [line(table.map(({ title }) => title)), ...cells.map(line)].join('\n');
}

const excessOf = (widths: readonly number[], columns: number): number =>
  widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1) - columns;

function shrink(widths: number[], table: readonly Column<never>[], columns: number): void {
  const excess = () => excessOf(widths, columns);
  const flexible = table.flatMap(({ isFlexible }, index) => (isFlexible ? [index] : []));
  for (let over = excess(); over > 0; over = excess()) {
    const widest = flexible.reduce(
      (best, index) => ((widths[index] ?? 0) > (widths[best] ?? 0) ? index : best),
      flexible[0] ?? -1,
    );
    if (widest < 0 || (widths[widest] ?? 0) <= MIN_FLEXIBLE_WIDTH) return;
    widths[widest] = Math.max(MIN_FLEXIBLE_WIDTH, (widths[widest] ?? 0) - over);
    if (flexible.every((index) => (widths[index] ?? 0) <= MIN_FLEXIBLE_WIDTH)) return;
  }
}

/** Names and values, one pair a line. Further lines of a value are indented: none looks like another fact. */
export function formatFacts(facts: readonly (readonly [string, string | null])[]): string {
  const shown = facts.filter((fact): fact is readonly [string, string] => fact[1] !== null);
  const width = Math.max(...shown.map(([name]) => name.length));
  const indent = `\n${' '.repeat(width + GAP.length)}`;
  return shown
    .map(([name, value]) => `${name.padEnd(width)}${GAP}${String(value).replace(/\r\n?|\n/g, indent)}`)
    .join('\n');
}
