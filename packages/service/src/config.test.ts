import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

const stepsOf = (env: Record<string, string>) => readConfig(env).config.confirmations;

describe('CONFIRMATIONS', () => {
  it('says from which amount on a payment must be how deep', () => {
    expect(stepsOf({ CONFIRMATIONS: '0:1,0.5:2, 1000:12' })).toEqual([
      { fromMicro: 0n, depthBlocks: 1 },
      { fromMicro: 500_000n, depthBlocks: 2 },
      { fromMicro: 1_000_000_000n, depthBlocks: 12 },
    ]);
  });

  it('is 1 block for every amount in local mode', () =>
    expect(stepsOf({})).toEqual([{ fromMicro: 0n, depthBlocks: 1 }]));

  it.each(['', '1:1', '0:0', '0:101', '0:1,5:3,5:4', '0:1,5:3,4:4', '0:1,x:2', '0', '0:1;5:3', '0:1,-5:2', '0:1.5'])(
    'refuses %j by its name',
    (text) => {
      expect(() => stepsOf({ CONFIRMATIONS: text })).toThrow(ConfigError);
      expect(() => stepsOf({ CONFIRMATIONS: text })).toThrow(/^CONFIRMATIONS/);
    },
  );
});

describe('SENDER_PRIVATE_KEYS', () => {
  const key = `0x${'1'.repeat(64)}`;

  it('are keys with commas between, or none', () => {
    expect(readConfig({}).secrets.senderPrivateKeys).toBeNull();
    expect(readConfig({ SENDER_PRIVATE_KEYS: '' }).secrets.senderPrivateKeys).toEqual([]);
    expect(readConfig({ SENDER_PRIVATE_KEYS: `${key}, ${key}` }).secrets.senderPrivateKeys).toEqual([key, key]);
  });

  it.each(['0x1', `${key},`, `${key};${key}`])('refuses %j without repeating it', (text) => {
    const read = () => readConfig({ SENDER_PRIVATE_KEYS: text });
    expect(read).toThrow(/^SENDER_PRIVATE_KEYS/);
    expect(read).not.toThrow(/1111/);
  });
});

describe('TRUSTED_PROXIES', () => {
  it('are addresses and ranges with commas between, or none', () => {
    expect(readConfig({}).config.trustedProxies).toEqual([]);
    expect(readConfig({ TRUSTED_PROXIES: '127.0.0.1, ::1,10.0.0.0/8' }).config.trustedProxies).toHaveLength(3);
  });

  it.each(['localhost', '10.0.0.0/33', '127.0.0.1;::1', '1', ','])('refuses %j by its name', (text) => {
    expect(() => readConfig({ TRUSTED_PROXIES: text })).toThrow(/^TRUSTED_PROXIES/);
  });
});
