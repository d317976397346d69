/**
 * OpenMetrics text as Prometheus text: counters are described under the names of their samples, and exemplars and the mark of the end are
 * left out. prom-client writes a registry in one format only, and exemplars only in OpenMetrics.
 */
export function toPlainText(openMetrics: string): string {
  const lines = openMetrics.split('\n').filter((line) => line !== '# EOF');
  const counters = new Set(lines.flatMap((line) => /^# TYPE (\S+) counter$/.exec(line)?.[1] ?? []));
  return lines.map((line) => withoutExemplar(named(line, counters))).join('\n');
}

const named = (line: string, counters: ReadonlySet<string>): string =>
  line.replace(/^# (HELP|TYPE) (\S+)/, (whole, what, name) => (counters.has(name) ? `# ${what} ${name}_total` : whole));

const withoutExemplar = (line: string): string =>
  line.startsWith('#') ? line : line.replace(/ # \{[^{}]*\} \S+ \S+$/, '');
