import type { Figure } from './bench-context.ts';

const titles = [
  '',
  'what',
  'callers',
  'calls/s',
  'p50 ms',
  'p99 ms',
  'beside',
  'its calls/s',
  'ratio',
  'aim',
  'generator',
];

/** The figures as a table for people. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = [titles, ...figures.map(cellsOf)];
  const widths = titles.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const notes = new Set(
    figures.flatMap(({ bench, callers, note }) => (note ? [`(${bench}) ${callers} callers: ${note}`] : [])),
  );
  return [
    ...rows.map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    ),
    ...notes,
  ].join('\n');
}

const cellsOf = ({ bench, what, callers, perSecond, p50Ms, p99Ms, peer, aim, generatorCpu }: Figure): string[] => [
  `(${bench})`,
  what,
  String(callers),
  perSecond.toFixed(0),
  p50Ms.toFixed(2),
  p99Ms.toFixed(2),
  peer?.name ?? '',
  peer?.perSecond.toFixed(0) ?? '',
  peer ? `${peer.ratio.toFixed(2)}x` : '',
  aim ? `${aim.text}: ${aim.isReached ? 'reached' : 'missed'}` : '',
  `${(generatorCpu * 100).toFixed(0)} %`,
];

/** The figures as one line of JSON, for programs. */
export function jsonLineOf(figures: readonly Figure[]): string {
  const rounded = (_key: string, value: unknown) =>
    typeof value === 'number' ? Math.round(value * 1000) / 1000 : value;
  return JSON.stringify({ node: process.version, figures }, rounded);
}
