import type { Bounds } from './bounds.ts';
import type { Figures, HonestFigures } from './honest.ts';
import type { AttackResult } from './site.ts';
import type { NodeFigures } from './watch-node.ts';

export interface Row {
  readonly attack: string;
  readonly does: string;
  readonly result: AttackResult;
  readonly node: NodeFigures;
  readonly quiet: HonestFigures;
  readonly honest: HonestFigures;
  readonly bounds: Bounds;
}

const ratioOf = (now: Figures, quiet: Figures): number => now.p99Ms / quiet.p99Ms;

/** The worse of calls and reads. */
const worstRatio = ({ honest, quiet }: Row): number =>
  Math.max(ratioOf(honest.calls, quiet.calls), ratioOf(honest.reads, quiet.reads));

/** The bounds that were broken, in words; empty: none. */
export function violationsOf(row: Row): string[] {
  const { node, bounds, honest, quiet, result } = row;
  const measured: readonly (readonly [string, number, number])[] = [
    ['memory grew, MiB', node.rssPeakMib - node.rssBeforeMib, bounds.rssGrowthMib],
    ['database grew, MiB', node.databaseGrewMib, bounds.databaseGrowthMib],
    ['sockets', node.socketsPeak, bounds.sockets],
    ['gas', node.gas, bounds.gas],
    ['look-ups', node.lookUps, bounds.lookUps],
    ['p99 of honest calls, ratio', ratioOf(honest.calls, quiet.calls), bounds.p99Ratio],
    ['p99 of honest reads, ratio', ratioOf(honest.reads, quiet.reads), bounds.p99Ratio],
    ['honest calls that failed', honest.failures.length, 0],
  ];
  const broken = measured.filter(([, value, most]) => !(value <= most));
  return [
    ...broken.map(([what, value, most]) => `${what}: ${round(value)}, at most ${most}`),
    ...result.claims.filter(({ held }) => !held).map(({ text }) => `not so: ${text}`),
    ...honest.failures.slice(0, 3).map((text) => `an honest call failed: ${text}`),
  ];
}

const round = (value: number): string => (Math.abs(value) < 100 ? value.toFixed(1) : value.toFixed(0));
const p99s = ({ calls, reads }: HonestFigures) => `${round(calls.p99Ms)} / ${round(reads.p99Ms)}`;
const answersOf = ({ answers }: AttackResult) =>
  Object.entries(answers)
    .map(([status, count]) => `${count}x ${status}`)
    .join(', ');

const titles = [
  'attack',
  'attempts',
  'answers',
  'RSS before/peak, MiB',
  'database grew, MiB',
  'sockets',
  'gas',
  'look-ups',
  'quiet p99 call/read, ms',
  'p99 call/read, ms',
  'ratio',
  'bounds',
];

/** The rows as a Markdown table. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.attack,
    String(row.result.attempts),
    answersOf(row.result),
    `${round(row.node.rssBeforeMib)}/${round(row.node.rssPeakMib)}`,
    round(row.node.databaseGrewMib),
    String(row.node.socketsPeak),
    String(row.node.gas),
    String(row.node.lookUps),
    p99s(row.quiet),
    p99s(row.honest),
    worstRatio(row).toFixed(2),
    violationsOf(row).length === 0 ? 'ok' : 'violation',
  ]);
  const widths = titles.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  return [line(titles), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n');
}
