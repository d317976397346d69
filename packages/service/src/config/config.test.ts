import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { misspeltSettings } from '../compose/start-warnings.ts';
import { ConfigError } from '../lib/read-env.ts';
import { readConfig } from './config.ts';
import { settingsInForce } from './settings.ts';

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

const key = `0x${'1'.repeat(64)}`;
const onBase = {
  NETWORKS: JSON.stringify([
    { id: 'eip155:8453', rpcUrls: ['https://rpc.example'] },
    { id: 'eip155:137', rpcUrls: ['https://rpc2.example'] },
  ]),
};

describe('a start with wrong settings', () => {
  const messageOf = (env: Record<string, string>): string => {
    try {
      readConfig(env);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('names all of them at once, with their values, and what production needs beside', () => {
    const env = {
      NODE_ENV: 'production',
      PORT: '80a',
      DASHBOARD: 'yes',
      CHAIN_ID: '1',
      SECRET_KEY: 'short and secret',
      CHAIN_RPC_URL: 'ftp://user:password@x',
    };
    const lines = messageOf(env).split('\n');
    expect(lines[0]).toBe('6 settings are wrong:');
    expect(
      lines
        .slice(1)
        .map((line) => line.split(' ')[1])
        .sort(),
    ).toEqual(['CHAIN_ID', 'CHAIN_RPC_URL', 'DASHBOARD', 'NODE_ENV=production', 'PORT', 'SECRET_KEY']);
    expect(lines).toContain('- PORT must be a whole number from 0 to 65535. It is "80a".');
    expect(lines).toContain('- NODE_ENV=production needs DATABASE_URL, SETTLEMENT_PRIVATE_KEY, BASE_URL, NODE_LABEL.');
    expect(messageOf(env)).not.toMatch(/short and secret|password/);
  });

  it('says one alone without a list', () =>
    expect(messageOf({ DASHBOARD: 'yes' })).toBe('DASHBOARD must be true or false. It is "yes".'));
});

describe('NODE_ENV', () => {
  it.each([undefined, '', 'local', 'development', 'test'])('%j is local mode', (text) =>
    expect(readConfig({ NODE_ENV: text }).config.mode).toBe('local'),
  );

  it.each(['prod', 'Production', 'production ', 'staging'])('%j is neither mode', (text) =>
    expect(() => readConfig({ NODE_ENV: text })).toThrow(/^NODE_ENV must be production, .* It is "/),
  );
});

it('names variables that are almost settings', () => {
  expect(
    misspeltSettings({
      SETTLMENT_PRIVATE_KEY: key,
      MIN_PAYMENTS: '1',
      PORT: '1',
      PATH: '/bin',
      HOSTNAME: 'x',
      LOG_LEVEL: 'info',
    }),
  ).toEqual([
    { name: 'SETTLMENT_PRIVATE_KEY', nearest: 'SETTLEMENT_PRIVATE_KEY' },
    { name: 'MIN_PAYMENTS', nearest: 'MIN_PAYMENT' },
  ]);
});

describe('links of the operator', () => {
  it('are web pages, and an e-mail address for abuse; empty ones are none', () => {
    expect(readConfig({}).config.operatorLinks).toEqual({ terms: null, privacy: null, abuse: null });
    const links = { TERMS_URL: 'https://node.example/terms', PRIVACY_URL: '', ABUSE_CONTACT: 'abuse@node.example' };
    expect(readConfig(links).config.operatorLinks).toEqual({
      terms: 'https://node.example/terms',
      privacy: null,
      abuse: 'mailto:abuse@node.example',
    });
    const page = { ABUSE_CONTACT: 'https://node.example/abuse' };
    expect(readConfig(page).config.operatorLinks.abuse).toBe('https://node.example/abuse');
  });

  it.each([
    ['TERMS_URL', 'javascript:alert(1)'],
    ['TERMS_URL', '/terms'],
    ['PRIVACY_URL', 'https://user:password@node.example/'],
    ['PRIVACY_URL', `https://node.example/${'a'.repeat(2048)}`],
    ['ABUSE_CONTACT', 'nobody'],
    ['ABUSE_CONTACT', 'a@b.example?subject=x'],
    ['ABUSE_CONTACT', 'a@b.example\nx'],
  ])('%s is not %j', (name, value) => expect(() => readConfig({ [name]: value })).toThrow(`${name} must be`));
});

it('takes a key as openssl prints it', () =>
  expect(readConfig({ SETTLEMENT_PRIVATE_KEY: '1'.repeat(64) }).secrets.settlementPrivateKey).toBe(key));

describe('REGISTRAR_PRIVATE_KEY', () => {
  const read = (env: Record<string, string>) => readConfig(env).secrets.registrarPrivateKey;

  it('is a key, or none when empty; made in local mode when it is not there', () => {
    expect(read({})).toBeNull();
    expect(read({ REGISTRAR_PRIVATE_KEY: '' })).toBe('none');
    expect(read({ REGISTRAR_PRIVATE_KEY: key })).toBe(key);
  });

  it.each(['SETTLEMENT_PRIVATE_KEY', 'SENDER_PRIVATE_KEYS'])('is not one of %s, nor malformed', (other) => {
    const upper = `0x${'A'.repeat(64)}`;
    expect(() => read({ REGISTRAR_PRIVATE_KEY: upper, [other]: upper.toLowerCase() })).toThrow(/^REGISTRAR.*differ/);
    expect(() => read({ REGISTRAR_PRIVATE_KEY: '0x1' })).toThrow(/^REGISTRAR_PRIVATE_KEY must/);
  });
});

describe('FAUCET_PRIVATE_KEY', () => {
  const read = (env: Record<string, string>) =>
    readConfig({ FAUCET_PRIVATE_KEY: key, ...env }).secrets.faucetPrivateKey;

  it('is none unless it is given, and only where money is no real one', () => {
    expect(read({})).toBe(key);
    expect(read({ FAUCET_PRIVATE_KEY: '' })).toBeNull();
    const real = [{ CHAIN_RPC_URL: 'https://rpc.example', CHAIN_ID: '8453' }, onBase];
    for (const env of real) expect(() => read(env)).toThrow(/^FAUCET_PRIVATE_KEY must be removed/);
  });

  it.each(['SETTLEMENT_PRIVATE_KEY', 'SENDER_PRIVATE_KEYS', 'REGISTRAR_PRIVATE_KEY'])('is not one of %s', (other) =>
    expect(() => read({ [other]: key })).toThrow(/^FAUCET.*differ/),
  );

  it('gives at most what the settings say, once per account on a test network', () => {
    const given = (env: Record<string, string>) => readConfig(env).config.faucetSettings;
    expect(given({})).toEqual({ amountMicro: 10_000_000n, perAccount: 10_000, perAddress: 10_000, perDay: 10_000 });
    const sepolia = { CHAIN_RPC_URL: 'https://rpc.example', FAUCET_PER_DAY: '50' };
    expect(given(sepolia)).toEqual({ amountMicro: 1_000_000n, perAccount: 1, perAddress: 3, perDay: 50 });
    for (const FAUCET_AMOUNT of ['0', '-1', '0.00001', 'x'])
      expect(() => given({ FAUCET_AMOUNT })).toThrow(/^FAUCET_AMOUNT/);
  });
});

describe('SENDER_PRIVATE_KEYS', () => {
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

describe('FORMER_WALLETS', () => {
  const read = (text?: string) => readConfig(text === undefined ? {} : { FORMER_WALLETS: text }).config.formerWallets;

  it('are addresses with commas between, in lower case, or none', () => {
    expect([read(), read('')]).toEqual([[], []]);
    expect(read(`0x${'A'.repeat(40)}, 0x${'b'.repeat(40)}`)).toEqual([`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`]);
  });

  it('refuses a key in their place without repeating it', () => {
    expect(() => read(key)).toThrow(/^FORMER_WALLETS/);
    expect(() => read(key)).not.toThrow(/1111/);
  });
});

describe('NETWORK_REFUSED', () => {
  it('names nodes, in the one spelling of their address, and tokens', () => {
    expect(readConfig({}).config.networkRefused).toEqual([]);
    expect(readConfig({ NETWORK_REFUSED: 'https://A.example:443/, 17' }).config.networkRefused).toEqual([
      'https://a.example',
      '17',
    ]);
  });

  it.each(['x', '1,', 'ftp://a.example'])('refuses %j by its name', (text) =>
    expect(() => readConfig({ NETWORK_REFUSED: text })).toThrow(/^NETWORK_REFUSED/),
  );
});

it('DATABASE_PROMISE_FILE is a path, or none when empty', () => {
  const read = (text?: string) =>
    readConfig(text === undefined ? {} : { DATABASE_PROMISE_FILE: text }).config.databasePromiseFile;
  expect([read(), read(''), read('/var/lib/x/promise.json')]).toEqual([null, null, '/var/lib/x/promise.json']);
});

it('BASE_URL is taken in the one spelling that other nodes know it by', () =>
  expect(readConfig({ BASE_URL: 'https://A.example:443/' }).config.baseUrl).toBe('https://a.example'));
describe('TRUSTED_PROXIES', () => {
  it('are addresses and ranges with commas between, or none', () => {
    expect(readConfig({}).config.trustedProxies).toEqual([]);
    expect(readConfig({ TRUSTED_PROXIES: '127.0.0.1, ::1,10.0.0.0/8' }).config.trustedProxies).toHaveLength(3);
  });

  it.each(['localhost', '10.0.0.0/33', '127.0.0.1;::1', '1', ','])('refuses %j by its name', (text) => {
    expect(() => readConfig({ TRUSTED_PROXIES: text })).toThrow(/^TRUSTED_PROXIES/);
  });
});

describe('a local node that others reach', () => {
  const private_ = { isExposed: false, allowPrivateEndpoints: true, signInsPerHour: 1_000_000_000 };
  const exposed = { isExposed: true, allowPrivateEndpoints: false, signInsPerHour: 120 };

  it.each([
    {},
    { HOST: '127.0.0.1' },
    { HOST: 'localhost' },
    { HOST: '::1' },
    { HOST: '127.0.0.5', BASE_URL: 'http://localhost:1' },
  ])('is not one with %j', (env) => expect(readConfig(env).config).toMatchObject(private_));

  it.each([
    { HOST: '0.0.0.0' },
    { HOST: '::' },
    { HOST: '' },
    { HOST: '192.168.1.2' },
    { HOST: 'node.example' },
    { BASE_URL: 'https://node.example' },
    { TRUSTED_PROXIES: '127.0.0.1' },
  ])('is one with %j: the comforts of local mode are off', (env) => {
    const { config } = readConfig(env as Record<string, string>);
    expect(config).toMatchObject(exposed);
    expect(config.planLimits.anonymous.api).toBe(1000);
  });

  it('allows what its settings name', () => {
    const env = { HOST: '0.0.0.0', ALLOW_PRIVATE_ENDPOINTS: 'true', ANONYMOUS_REQUESTS_PER_HOUR: '5000' };
    const { config } = readConfig(env);
    expect(config).toMatchObject({ isExposed: true, allowPrivateEndpoints: true });
    expect(config.planLimits.anonymous.api).toBe(5000);
  });
});

it('local mode on a chain that is not its own waits for blocks as production does', () => {
  const { config } = readConfig({ CHAIN_RPC_URL: 'https://rpc.example', CHAIN_ID: '8453' });
  expect([config.confirmations.length, config.transferDepthBlocks]).toEqual([3, 12]);
  expect(readConfig({ CHAIN_RPC_URL: 'http://127.0.0.1:8545' }).config.transferDepthBlocks).toBe(1);
});

describe('GATEWAYS', () => {
  it.each([
    [{}, ['mcp', 'a2a', 'openai', 'x402']],
    [{ GATEWAYS: 'x402, mcp' }, ['mcp', 'x402']],
    [{ GATEWAYS: '' }, []],
    [{ FACES: 'a2a' }, ['a2a']],
    [{ GATEWAYS: 'mcp', FACES: 'a2a' }, ['mcp']],
  ])('%j serves %j', (env, served) => {
    expect([...readConfig(env as Record<string, string>).config.gateways]).toEqual(served);
  });

  it('names no others', () => {
    expect(() => readConfig({ GATEWAYS: 'x402,x403' })).toThrow('GATEWAYS must be some of mcp, a2a, openai, x402');
  });
});

it('the free plan is that of the product where money is real, and larger where it is not', () => {
  const free = (env: Record<string, string>) => readConfig(env).config.planLimits.free;
  expect(free({ CHAIN_ID: '8453', CHAIN_RPC_URL: 'https://rpc.example' })).toEqual({ api: 100, invocations: 10 });
  expect(free({})).toEqual({ api: 5000, invocations: 500 });
  expect(free({ FREE_REQUESTS_PER_HOUR: '7', FREE_INVOCATIONS_PER_HOUR: '3' })).toEqual({ api: 7, invocations: 3 });
});

it('a wallet’s calls without a key are bounded where others reach the node', () => {
  expect(readConfig({ HOST: '0.0.0.0' }).config.keylessPerHour).toBe(100);
  expect(readConfig({}).config.keylessPerHour).toBeGreaterThan(1_000_000);
  expect(readConfig({ HOST: '0.0.0.0' }).config.freeCallsPerHour).toBe(100);
  expect(readConfig({}).config.freeCallsPerHour).toBeGreaterThan(1_000_000);
});

describe('the least amounts on chain', () => {
  it.each([
    ['local mode takes no dust', {}, [100n, 100n, 100n, 0n]],
    [
      'each is a setting',
      { MIN_PAYMENT: '0.02', MIN_DEPOSIT: '1', MIN_WITHDRAWAL: '0.5', MIN_REFUND: '0.03' },
      [20_000n, 1_000_000n, 500_000n, 30_000n],
    ],
  ])('%s', (_, env, expected) => {
    const { minPaymentMicro, minDepositMicro, minWithdrawalMicro, minRefundMicro } =
      readConfig(env).config.paymentLimits;
    expect([minPaymentMicro, minDepositMicro, minWithdrawalMicro, minRefundMicro]).toEqual(expected);
  });

  it('refuses what is no amount', () => expect(() => readConfig({ MIN_PAYMENT: '1e-6' })).toThrow('MIN_PAYMENT'));
});

it.each([
  ['0.05', 50_000_000_000_000_000n],
  ['2', 2_000_000_000_000_000_000n],
  ['0.000000000000000001', 1n],
] as const)('a cap of %s ETH for the gas of a day is %s wei', (GAS_PER_DAY, wei) =>
  expect(readConfig({ GAS_PER_DAY }).config.paymentLimits.gasPerDayWei).toBe(wei),
);
it.each(['', '0', '-1', '1e3', '.5', '0.0000000000000000001', '1 ETH'])(
  'a cap of "%s" for the gas of a day is refused',
  (GAS_PER_DAY) => expect(() => readConfig({ GAS_PER_DAY })).toThrow('GAS_PER_DAY'),
);

describe('secrets', () => {
  const keys = ['a'.repeat(32), 'b'.repeat(40)];
  const inFile = (text: string) => {
    const path = join(mkdtempSync(join(tmpdir(), 'agent-network-secret-')), 'secret');
    writeFileSync(path, text);
    return path;
  };

  it.each([
    ['one', keys.slice(0, 1).join(), keys.slice(0, 1)],
    ['several, newest first', keys.join(', '), keys],
  ])('SECRET_KEY has %s', (_how, text, read) =>
    expect(readConfig({ SECRET_KEY: text }).secrets.secretKeys).toEqual(read),
  );

  it.each([
    ['that is short', `${keys[0]},short`],
    ['twice', `${keys[0]},${keys[0]}`],
    ['that is empty', `${keys[0]},`],
  ])('a key %s is refused', (_how, text) => expect(() => readConfig({ SECRET_KEY: text })).toThrow('SECRET_KEY'));

  it('are read from files, a line or a comma apart', () => {
    const env = {
      SECRET_KEY_FILE: inFile(`${keys[0]}\n\n${keys[1]}\r\n`),
      DATABASE_URL_FILE: inFile('postgres://u:p@h/d\n'),
    };
    const { config, secrets } = readConfig(env);
    expect([secrets.secretKeys, config.databaseUrl]).toEqual([keys, 'postgres://u:p@h/d']);
    expect(settingsInForce(env).find(({ name }) => name === 'SECRET_KEY')?.value).toBe('(set, not printed)');
    expect(misspeltSettings(env)).toEqual([]);
  });

  it.each([
    ['a file that is not there', { SECRET_KEY_FILE: '/nowhere/secret' }, 'ENOENT'],
    ['a folder', { SECRET_KEY_FILE: tmpdir() }, 'not a file'],
    ['a large file', { SECRET_KEY_FILE: inFile('x'.repeat(65_537)) }, 'more than 65536 bytes'],
    ['a secret that is set as well', { SECRET_KEY: keys[0], SECRET_KEY_FILE: inFile(keys[1] ?? '') }, 'both are set'],
    ['a wrong key, which is not repeated', { SETTLEMENT_PRIVATE_KEY_FILE: inFile('hidden') }, 'must be 64 hex digits'],
  ])('%s is refused', (_what, env, message) => {
    expect(() => readConfig(env)).toThrow(message);
    expect(() => readConfig(env)).not.toThrow('hidden');
  });
});
