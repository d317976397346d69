import type { Times } from './ask.ts';
import type { TableSize } from './disk.ts';
import type { SizedName } from './size-server.ts';
import type { Trimming } from './trimming.ts';

type Cell = string | number;

function tableOf(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [head, head.map((_, index) => (index === 0 ? '---' : '---:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Markdown, as docs/scaling.md shows it. */
export function printTimes(times: ReadonlyMap<string, ReadonlyMap<SizedName, Times>>): string {
  const rows = [...times].map(([name, each]) => {
    const [empty, big] = [each.get('empty'), each.get('big')];
    if (!empty || !big) throw new Error(`${name} has no times of both`);
    const [ofMedian, ofTail] = [big.p50Ms / empty.p50Ms, big.p99Ms / empty.p99Ms].map((ratio) => ratio.toFixed(2));
    return [
      name,
      ...[empty.p50Ms, empty.p99Ms, big.p50Ms, big.p99Ms].map((ms) => ms.toFixed(1)),
      ofMedian ?? '',
      ofTail ?? '',
    ];
  });
  return tableOf(['', 'few: p50 ms', 'p99', 'many: p50 ms', 'p99', 'ratio p50', 'p99'], rows);
}

const mib = (bytes: number) => (bytes / 1024 / 1024).toFixed(0);

/** Sizes, each row's share of disk, and what an invocation takes in all. */
export function printSizes(sizes: readonly TableSize[], invocations: number): string {
  const rows = sizes.map(({ table, rows: count, tableBytes, indexBytes }) => [
    ...[table, Math.round(count).toLocaleString('en'), mib(tableBytes), mib(indexBytes)],
    count > 0 ? Math.round((tableBytes + indexBytes) / count) : '',
    Math.round((tableBytes + indexBytes) / invocations),
  ]);
  const all = sizes.reduce((sum, { tableBytes, indexBytes }) => sum + tableBytes + indexBytes, 0);
  rows.push(['all', '', mib(all), '', '', Math.round(all / invocations)]);
  return `\n${tableOf(['table', 'rows', 'MiB', 'indexes, MiB', 'bytes a row', 'bytes an invocation'], rows)}`;
}

export function printTrimming({ calls, seconds, rows }: Trimming): string {
  const each = Object.entries(rows).map(([name, count]) => [
    name,
    count.toLocaleString('en'),
    (count / seconds).toFixed(0),
  ]);
  return `\n${tableOf(['removed beside calls', 'rows', 'a second'], each)}\n\ncalls meanwhile: ${calls.calls}, p50 ${calls.p50Ms.toFixed(1)} ms, p99 ${calls.p99Ms.toFixed(1)} ms`;
}
