import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../lib/read-env.ts';
import { readConfig } from './config.ts';

const base = {
  id: 'eip155:84532',
  rpcUrls: ['https://one.example/v2/secret-path', 'https://user:pass-word@two.example'],
};
const ETHER = 10n ** 18n;
const other = { id: 'eip155:421614', rpcUrls: ['https://three.example'] };
const TUSD = '0x7e57d0117e57d0117e57d0117e57d0117e57d011';
const read = (value: unknown, env: Record<string, string> = {}) =>
  readConfig({ NETWORKS: typeof value === 'string' ? value : JSON.stringify(value), ...env }).config;
const messageOf = (value: unknown, env: Record<string, string> = {}): string => {
  try {
    read(value, env);
    return '';
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
};

const folder = mkdtempSync(join(tmpdir(), 'networks-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('NETWORKS', () => {
  it('names the networks, the default one first; depths are those of the other settings unless an entry has its own', () => {
    const entry = { ...other, tokens: ['USDC'], confirmations: '0:2', transferDepthBlocks: 7, settlers: ['own'] };
    const config = read([base, entry], { CONFIRMATIONS: '0:3', TRANSFER_CONFIRMATIONS: '5' });
    expect(config).toMatchObject({
      chainId: 84_532,
      chainRpcUrl: base.rpcUrls.join(' '),
      confirmations: [{ fromMicro: 0n, depthBlocks: 3 }],
      transferDepthBlocks: 5,
      furtherNetworks: [
        {
          ...{ chainId: 421_614, rpcUrl: 'https://three.example', isLocal: false, transferDepthBlocks: 7 },
          token: '0x75faf114eafb1bdbe2f0316df893fd58ce46aa4d',
          confirmations: [{ fromMicro: 0n, depthBlocks: 2 }],
        },
      ],
    });
    expect(read([base]).furtherNetworks).toEqual([]);
  });

  it('caps gas on each network by its own entry, else by GAS_PER_DAY', () => {
    const capsOf = (entries: unknown, env: Record<string, string> = {}) => {
      const { paymentLimits, furtherNetworks } = read(entries, env);
      return [paymentLimits.gasPerDayWei, ...furtherNetworks.map(({ gasPerDayWei }) => gasPerDayWei)];
    };
    expect(capsOf([base, other])).toEqual([null, null]);
    expect(capsOf([base, { ...other, gasPerDay: '0.5' }], { GAS_PER_DAY: '2' })).toEqual([2n * ETHER, ETHER / 2n]);
    expect(capsOf([{ ...base, gasPerDay: '3' }, other], { GAS_PER_DAY: '2' })).toEqual([3n * ETHER, 2n * ETHER]);
    expect(messageOf([base, { ...other, gasPerDay: '0' }])).toContain('NETWORKS entry 2: gasPerDay must be an amount');
  });

  it('has one cap of gas for all tokens of a network', () => {
    const here = { id: base.id, rpcUrls: ['http://127.0.0.1:1'] };
    const entries = [here, { ...here, tokens: ['TUSD'], gasPerDay: '1' }];
    expect(messageOf(entries)).toContain('gasPerDay must be the same in all entries of a network');
    expect(read(entries, { GAS_PER_DAY: '1' }).furtherNetworks).toMatchObject([{ gasPerDayWei: ETHER }]);
  });

  it('is local where all addresses of an entry are on this machine, in local mode', () => {
    const here = { id: 'eip155:80002', rpcUrls: ['http://127.0.0.1:1', 'http://localhost:2'] };
    const [local, away] = read([base, here, other]).furtherNetworks;
    expect(local).toMatchObject({ isLocal: true, transferDepthBlocks: 1 });
    expect(away).toMatchObject({ isLocal: false, transferDepthBlocks: 12 });
  });

  it('has one for each token, those of a chain with the same address and depths', () => {
    const here = { id: base.id, rpcUrls: ['http://127.0.0.1:1'], tokens: ['USDC', 'TUSD'], confirmations: '0:2' };
    expect(read([here, other])).toMatchObject({
      chainId: 84_532,
      furtherNetworks: [
        {
          chainId: 84_532,
          token: TUSD,
          rpcUrl: 'http://127.0.0.1:1',
          confirmations: [{ fromMicro: 0n, depthBlocks: 2 }],
        },
        { chainId: 421_614 },
      ],
    });
  });

  it('may stand in a file', () => {
    const path = join(folder, 'networks.json');
    writeFileSync(path, `${JSON.stringify([base, other], null, 2)}\n`);
    expect(read(`@${path}`).furtherNetworks).toHaveLength(1);
  });

  it('is enough for production, without CHAIN_RPC_URL and CHAIN_ID', () => {
    const production = {
      NODE_ENV: 'production',
      DATABASE_URL: 'postgresql://service@db.example/network',
      SETTLEMENT_PRIVATE_KEY: `0x${'1'.repeat(64)}`,
      SECRET_KEY: 'x'.repeat(32),
      BASE_URL: 'https://node.example',
      NODE_LABEL: 'one',
    };
    expect(read([base, other], production)).toMatchObject({ mode: 'production', chainId: 84_532 });
    expect(messageOf([], production)).toBe('NETWORKS must be a JSON list of 1 to 16 networks.');
  });

  const big = join(folder, 'big.json');
  writeFileSync(big, ' '.repeat(65_537));
  it.each<[string, unknown, string]>([
    ['no JSON', '[', 'NETWORKS must be JSON, or @ and the path of a file with it.'],
    ['no list', '{}', 'NETWORKS must be a JSON list of 1 to 16 networks.'],
    ['an empty list', [], 'NETWORKS must be a JSON list of 1 to 16 networks.'],
    ['too many', Array(17).fill(base), 'NETWORKS must be a JSON list of 1 to 16 networks.'],
    ['no object', [base, null], 'NETWORKS entry 2: the entry must be an object (got null).'],
    ['no id', [{ rpcUrls: base.rpcUrls }], 'NETWORKS entry 1: id is required ("eip155:10" or'],
    [
      'an unknown id',
      [base, { ...other, id: 'eip155:1' }],
      'NETWORKS entry 2: id must be "eip155:10" or "eip155:137" or',
    ],
    ['a network twice', [base, other, other], 'NETWORKS entry 3: id and token must not be those of entry 2.'],
    ['another default', [other], 'NETWORKS entry 1: id of the default network must be eip155:8453 or eip155:84532'],
    ['test money beside real', [{ ...base, id: 'eip155:8453' }, other], 'NETWORKS must be all of real money or all of'],
    ['no addresses', [{ id: base.id, rpcUrls: [] }], 'NETWORKS entry 1: rpcUrls must have at least 1 item.'],
    ['one address as a text', [{ ...base, rpcUrls: 'https://a.example' }], 'NETWORKS entry 1: rpcUrls must be a list'],
    ['no address', [{ ...base, rpcUrls: ['secret'] }], 'NETWORKS entry 1: rpcUrls.0 must be an http or https URL.'],
    ['two in one', [{ ...base, rpcUrls: ['http://a http://b'] }], 'NETWORKS entry 1: rpcUrls.0 must be an http'],
    ['another scheme', [{ ...base, rpcUrls: ['ws://secret@a'] }], 'NETWORKS entry 1: rpcUrls.0 must be an http'],
    ['an address twice', [{ ...base, rpcUrls: ['http://a', 'http://a'] }], 'NETWORKS entry 1: tokens and rpcUrls must'],
    ['an unknown token', [{ ...base, tokens: ['DAI'] }], 'NETWORKS entry 1: tokens.0 must be "USDC" or "TUSD"'],
    [
      'a token of another chain',
      [base, { ...other, tokens: ['TUSD'] }],
      'entry 2: tokens must be of eip155:421614, which',
    ],
    [
      'a test token elsewhere',
      [{ ...base, tokens: ['USDC', 'TUSD'] }],
      'entry 1: tokens must be of eip155:84532, which',
    ],
    [
      'another default asset',
      [{ id: base.id, rpcUrls: ['http://127.0.0.1:1'], tokens: ['TUSD', 'USDC'] }],
      'NETWORKS entry 1: tokens of the default network must begin with USDC',
    ],
    ['no token', [{ ...base, tokens: [] }], 'NETWORKS entry 1: tokens must have at least 1 item.'],
    ['a token twice', [{ ...base, tokens: ['USDC', 'USDC'] }], 'NETWORKS entry 1: tokens and rpcUrls must not have'],
    ['another settler', [{ ...base, settlers: ['cdp'] }], 'NETWORKS entry 1: settlers.0 must be "own".'],
    ['wrong depths', [{ ...base, confirmations: '1:1' }], 'NETWORKS entry 1: confirmations must be like 0:1,10:3'],
    ['empty depths', [{ ...base, confirmations: '' }], 'NETWORKS entry 1: confirmations must be like 0:1,10:3'],
    ['a depth of 0', [{ ...base, transferDepthBlocks: 0 }], 'NETWORKS entry 1: transferDepthBlocks must be at least 1'],
    ['an unknown field', [{ ...base, rpcUrl: 'x' }], 'NETWORKS entry 1: it has a field that is none of id, rpcUrls,'],
    ['no file', `@${folder}/none.json`, `NETWORKS names the file ${folder}/none.json, which cannot be read (ENOENT).`],
    ['a folder', `@${folder}`, `NETWORKS names the file ${folder}, which cannot be read (not a file).`],
    ['a large file', `@${big}`, `NETWORKS names the file ${big}, which has more than 65536 bytes.`],
  ])('refuses %s', (_, value, message) => {
    expect(messageOf(value)).toContain(message);
    expect(messageOf(value)).not.toMatch(/secret|pass-word/);
  });

  it.each([{ CHAIN_RPC_URL: 'http://127.0.0.1:1' }, { CHAIN_ID: '84532' }])('stands alone, without %j', (env) =>
    expect(messageOf([base], env)).toContain('NETWORKS takes the place of CHAIN_RPC_URL and CHAIN_ID'),
  );
});

describe('LOCAL_CHAINS', () => {
  it.each([
    [{}, []],
    [{ LOCAL_CHAINS: '1' }, []],
    [{ LOCAL_CHAINS: '3' }, [421_614, 80_002]],
  ])('%j starts %j beside the first', (env, ids) =>
    expect(readConfig(env as Record<string, string>).config.localChainIds).toEqual(ids),
  );

  it.each([
    { LOCAL_CHAINS: '4' },
    { LOCAL_CHAINS: '0' },
    { LOCAL_CHAINS: '2', CHAIN_RPC_URL: 'http://127.0.0.1:1' },
    { LOCAL_CHAINS: '2', NETWORKS: JSON.stringify([base]) },
  ])('%j is refused', (env) => expect(() => readConfig(env as Record<string, string>)).toThrow(/^LOCAL_CHAINS must/));
});

describe('LOCAL_TOKENS', () => {
  it.each([
    [{}, []],
    [{ LOCAL_TOKENS: 'USDC' }, []],
    [{ LOCAL_TOKENS: 'USDC, TUSD' }, [TUSD]],
  ])('%j takes %j beside USDC', (env, tokens) =>
    expect(readConfig(env as Record<string, string>).config.localTokens).toEqual(tokens),
  );

  it.each([
    { LOCAL_TOKENS: 'TUSD' },
    { LOCAL_TOKENS: 'USDC,EURC' },
    { LOCAL_TOKENS: 'USDC,TUSD,TUSD' },
    { LOCAL_TOKENS: 'USDC,TUSD', CHAIN_RPC_URL: 'http://127.0.0.1:1' },
    { LOCAL_TOKENS: 'USDC,TUSD', NETWORKS: JSON.stringify([base]) },
  ])('%j is refused', (env) => expect(() => readConfig(env as Record<string, string>)).toThrow(/^LOCAL_TOKENS must/));
});
