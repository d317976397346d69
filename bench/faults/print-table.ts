import type { Fault } from './fault.ts';
import type { Tally } from './tally.ts';

export interface Row extends Tally {
  readonly fault: Fault;
  readonly contender: string;
  readonly isOurs: boolean;
  readonly tookMs: number;
}

const titles = ['fault', 'server', 'purchases', 'payments', 'refunds', 'runs', 'results', 'micro-USDC unaccounted for'];
const TEXT_COLUMNS = 2;

/** The rows as a Markdown table, in which the columns also stand below one another. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.fault.name,
    row.contender,
    ...[row.purchases, row.payments, row.refunds, row.runs, row.results, row.unaccountedMicro].map(String),
  ]);
  const widths = titles.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const pad = (cell: string, column: number) =>
    column < TEXT_COLUMNS ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const rule = widths.map((width, column) => (column < TEXT_COLUMNS ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [titles, rule, ...cells].map((row) => `| ${row.map(pad).join(' | ')} |`).join('\n');
}

/** The table as one line of JSON, for programs. */
export const jsonLineOf = (rows: readonly Row[]): string =>
  JSON.stringify(
    {
      node: process.version,
      faults: rows.map(({ fault, ...rest }) => ({ fault: fault.name, ...rest, tookMs: Math.round(rest.tookMs) })),
    },
    (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
  );
