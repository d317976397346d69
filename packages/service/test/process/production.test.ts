import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/lib/read-env.ts';
import { runToEnd } from '../support/service-process.ts';

const complete = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgresql://service@db.example/network',
  CHAIN_RPC_URL: 'https://rpc.example',
  CHAIN_ID: '8453',
  SETTLEMENT_PRIVATE_KEY: `0x${'1'.repeat(64)}`,
  SECRET_KEY: 'x'.repeat(32),
  BASE_URL: 'https://node.example',
  NODE_LABEL: 'one',
};
const required = Object.keys(complete).filter((name) => name !== 'NODE_ENV');

describe('a service in production', () => {
  it('takes no private endpoints and nothing that local mode makes', () => {
    const { config, secrets } = readConfig(complete);
    expect(config).toMatchObject({
      mode: 'production',
      allowPrivateEndpoints: false,
      databaseUrl: complete.DATABASE_URL,
    });
    expect(secrets).toEqual({
      settlementPrivateKey: complete.SETTLEMENT_PRIVATE_KEY,
      senderPrivateKeys: null,
      registrarPrivateKey: 'none',
      faucetPrivateKey: null,
      secretKeys: [complete.SECRET_KEY],
    });
  });

  it.each(required)('refuses to do without %s, by name', (name) => {
    const { [name as keyof typeof complete]: _, ...rest } = complete;
    expect(() => readConfig(rest)).toThrow(ConfigError);
    expect(() => readConfig(rest)).toThrow(new RegExp(`needs ${name}\\.`));
  });

  it('ends at once with all the names, and leaves nothing in the folder', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-production-'));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
    const { code, output } = await runToEnd({ dataDir, env: { NODE_ENV: 'production' } });
    expect(code).toBe(1);
    for (const name of required) expect(output).toContain(name);
    expect(output).not.toContain('    at ');
    expect(await readdir(dataDir)).toEqual([]);
  });
});
