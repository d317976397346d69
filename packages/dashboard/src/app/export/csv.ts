/**
 * Positions at which a cell may begin with a formula: before its sign, also behind blanks, invisible characters and quotes, and in full
 * width. Besides the start of the value these are separators, as a spreadsheet that splits at `;` or tabs knows only the quotes of the
 * first field. The look-ahead stops at the next separator, so that the time is linear in the length of the value.
 */
const FORMULA = /(?<=^|[;\t\n]|\r(?!\n))(?=(?:(?![;\t\r\n])[\s\p{C}"])*[=+\-@＝＋－＠])|^(?=[\t\r\n])/gu;

/** A value as a field of CSV that no spreadsheet computes: always in quotes, with an apostrophe before formulas. */
export function csvField(value: string | null | undefined): string {
  if (value === null || value === undefined) return '';
  return `"${value.replace(FORMULA, "'").replaceAll('"', '""')}"`;
}

/** A column: its name, and its value in a row. */
export type CsvColumn<Row> = readonly [name: string, value: (row: Row) => string | null | undefined];

/** A table as CSV (RFC 4180), with the mark that has spreadsheets read it as UTF-8. */
export function csvText<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  const lines = [
    columns.map(([name]) => csvField(name)),
    ...rows.map((row) => columns.map(([, value]) => csvField(value(row)))),
  ];
  return `\ufeff${lines.map((fields) => `${fields.join(',')}\r\n`).join('')}`;
}
