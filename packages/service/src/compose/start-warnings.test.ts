import { expect, it } from 'vitest';
import type { Config } from '../config/config.ts';
import { createLog } from '../lib/telemetry/log.ts';
import { warnOfReach } from './start-warnings.ts';

function warningsOf(mode: Config['mode'], baseUrl: string) {
  const lines: string[] = [];
  const log = createLog({ level: 'warn', destination: { write: (line) => lines.push(line) } });
  warnOfReach({ mode, host: '127.0.0.1', isExposed: false, allowPrivateEndpoints: false } as Config, baseUrl, log);
  return lines.map((line) => JSON.parse(line));
}

it.each([
  ['http://127.0.0.1:4050', /of this machine/],
  ['https://localhost', /of this machine/],
  ['http://[::1]:4050', /of this machine/],
  ['http://node.example', /not https/],
])('in production, the public address %s is warned of at start', (baseUrl, fault) => {
  expect(warningsOf('production', baseUrl)).toMatchObject([
    { level: 'warn', setting: 'BASE_URL', baseUrl, fault: expect.stringMatching(fault) },
  ]);
});

it.each([
  ['production', 'https://node.example'],
  ['local', 'http://127.0.0.1:4020'],
] as const)('in %s mode, %s is as it should be', (mode, baseUrl) => {
  expect(warningsOf(mode, baseUrl)).toEqual([]);
});
