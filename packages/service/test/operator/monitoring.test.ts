import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createNodeMetrics } from '../../src/compose/context.ts';

const root = join(import.meta.dirname, '../../../..');
const folder = join(root, 'deploy/monitoring');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const allOf = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1] as string);

const rules = read('deploy/monitoring/agent-network.rules.yml');
const dashboard = JSON.parse(read('deploy/monitoring/grafana-dashboard.json'));
const panels: { title: string; type: string; targets?: { expr: string }[] }[] = dashboard.panels;
const alerts = rules.split(/^ {6}- alert: /m).slice(1);
const queries = [
  ...allOf(rules, /^ +expr: (.+)$/gm),
  ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
];

/** The names that Prometheus knows: of the samples of `/metrics`, of recording rules, and its own `up`. */
let names: Set<string>;
let samples: string;
beforeAll(async () => {
  samples = (await createNodeMetrics().exposition('text')).text;
  // Histograms and gauges with labels have no sample before the first observation.
  const described = [...samples.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? ['_bucket', '_count', '_sum'].map((ending) => name + ending) : [name],
  );
  names = new Set([...described, ...allOf(rules, /^ +- record: (\S+)$/gm), 'up']);
});

const WORDS = new Set([
  'sum',
  'by',
  'rate',
  'increase',
  'histogram_quantile',
  'absent',
  'changes',
  'topk',
  'max',
  'min',
  'or',
  'and',
  'time',
]);
/** The metrics of a query: what is no label, function or number. */
const metricsIn = (query: string) =>
  allOf(query.replaceAll(/\{[^}]*\}|\[[^\]]*\]|by \([^)]*\)|offset \w+/g, ''), /([a-z_][a-z0-9_:]*)/gi).filter(
    (word) => !WORDS.has(word) && !/^e\d+$/.test(word),
  );

describe('rules and dashboard', () => {
  it('name metrics that /metrics has', () => {
    expect(queries.length).toBeGreaterThan(40);
    for (const query of queries) {
      expect(metricsIn(query).length).toBeGreaterThan(0);
      for (const name of metricsIn(query)) expect(names, query).toContain(name);
    }
  });

  it('name values of labels that counters have from the start', () => {
    const matched = queries.flatMap((query) => [...query.matchAll(/(\w+_total)\{(?!job=)(\w+)=~?"([^"]+)"\}/g)]);
    expect(matched.length).toBeGreaterThan(2);
    for (const [, name = '', label = '', values = ''] of matched)
      for (const value of values.split('|'))
        expect(samples).toMatch(new RegExp(`^${name}\\{[^}]*${label}="${value}"`, 'm'));
  });

  it('show requests, errors and durations by endpoint and gateway, and the money', () => {
    const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n');
    for (const part of [
      'requests:rate5m',
      'errors:rate5m',
      'latency_seconds:p99',
      'charged_micro',
      'refunded_micro',
      'reserves_difference',
    ])
      expect(shown).toContain(part);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  });
});

describe('alerts', () => {
  it('each has a severity, a summary and a section of the runbook, which has its expression', () => {
    const runbook = read('docs/alerts.md');
    expect(alerts.length).toBeGreaterThan(15);
    for (const alert of alerts) {
      const name = /^(\w+)/.exec(alert)?.[1] ?? '';
      const [severity] = allOf(alert, /severity: (page|ticket) /g);
      const [expression = ''] = allOf(alert, /expr: (.+)$/gm);
      expect(alert).toMatch(/summary: ".+"/);
      expect(alert).toContain(`runbook_url: https://docs.example/alerts.md#${name.toLowerCase()}\n`);
      expect(runbook).toContain(`\n## ${name}\n\n_${severity}_: \`${expression}\``);
    }
    expect(allOf(runbook, /^## (\w+)$/gm)).toEqual(alerts.map((alert) => /^(\w+)/.exec(alert)?.[1]));
  });

  it.skipIf(!existsSync('/usr/bin/promtool'))(
    'fire when they should, says promtool, and the configuration is good',
    async () => {
      expect(await tool('promtool', ['check', 'rules', 'agent-network.rules.yml'])).toContain('SUCCESS');
      expect(await tool('promtool', ['test', 'rules', 'agent-network.test.yml'])).toContain('SUCCESS');
      expect(await tool('promtool', ['check', 'config', 'prometheus.yml'])).toContain('valid prometheus config');
    },
  );

  it.skipIf(!existsSync('/usr/bin/amtool'))('have an Alertmanager configuration that amtool understands', async () => {
    expect(await tool('amtool', ['check-config', 'alertmanager.yml'])).toContain('SUCCESS');
  });
});

function tool(name: string, args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(name, args, { cwd: folder }, (error, stdout, stderr) =>
      resolve(`${error ? `failed: ${error.message}` : ''}${stdout}${stderr}`),
    );
  });
}
