import { expect, it } from 'vitest';
import { readSignatureEngine } from '../../src/chain/keys/signature-engine.ts';
import { reportSignatureEngine } from '../../src/compose/start-warnings.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { createLog } from '../../src/lib/telemetry/log.ts';
import { borrowHarness } from '../support/lent-harness.ts';

const gauge = async (text: string) => /^native_signatures (\d)$/m.exec(text)?.[1];

it('a node without compiled signatures warns at start and says so in its metrics', async () => {
  const lines: string[] = [];
  const log = createLog({ level: 'warn', destination: { write: (line) => lines.push(line) } });
  for (const [signatureEngine, value] of [
    ['javascript', '0'],
    ['native', '1'],
  ] as const) {
    const metrics = createMetrics();
    reportSignatureEngine({ signatureEngine, metrics, log });
    expect(await gauge((await metrics.exposition('text')).text)).toBe(value);
  }
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'warn',
    package: 'secp256k1',
    platform: process.platform,
    arch: process.arch,
    msg: 'secp256k1 has no native build here: signatures are checked in JavaScript, which is many times slower',
  });
});

it('a node tells in /readyz and /metrics how it checks signatures', async () => {
  const h = await borrowHarness();
  try {
    const engine = readSignatureEngine();
    expect((await h.request('GET', '/readyz')).body).toMatchObject({ status: 'ready', signatures: engine });
    expect(await gauge((await h.request('GET', '/metrics')).body)).toBe(engine === 'native' ? '1' : '0');
  } finally {
    await h.stop();
  }
});
