/** CSV (RFC 4180) as rows of named fields. */
export function readCsv(text: string): Record<string, string>[] {
  const lines: string[][] = [[]];
  for (const [, quoted, plain, end] of text
    .replace(/^\ufeff/, '')
    .matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    lines.at(-1)?.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
    if (end !== ',') lines.push([]);
  }
  const [names = [], ...rows] = lines.filter((line) => line.length > 0);
  return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? ''])));
}
