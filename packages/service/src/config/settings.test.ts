import { describe, expect, it } from 'vitest';
import { readConfig } from './config.ts';
import { defaultOf, type Placement, type Setting, settingNames, settings } from './settings.ts';

/** Only tests set it, and production refuses it. */
const FOR_TESTS = 'FAILPOINT';

const production = {
  NODE_ENV: 'production',
  ...Object.fromEntries(
    settings.flatMap(({ name, production, example }) => (production === 'required' ? [[name, example]] : [])),
  ),
};
const alone = { mode: 'local', isReached: false, isLocalChain: true, isBase: false } as const;
const placements: readonly (readonly [Record<string, string>, Placement])[] = [
  [{}, alone],
  [{ HOST: '0.0.0.0' }, { ...alone, isReached: true }],
  [{ CHAIN_RPC_URL: 'https://sepolia.base.org' }, { ...alone, isLocalChain: false }],
  [
    { CHAIN_RPC_URL: 'https://mainnet.base.org', CHAIN_ID: '8453' },
    { ...alone, isLocalChain: false, isBase: true },
  ],
  [production, { mode: 'production', isReached: true, isLocalChain: false, isBase: true }],
];

const namesRead = () => {
  const names = new Set<string>();
  const get = (env: Record<string, string>, name: string | symbol) => {
    names.add(String(name));
    return env[String(name)];
  };
  readConfig(new Proxy<Record<string, string>>(production, { get }));
  names.delete(FOR_TESTS);
  return [...names].sort();
};

function expectDefault(env: Record<string, string>, { name }: Setting, value: string) {
  expect(readConfig({ ...env, [name]: value })).toEqual(readConfig(env));
}

describe('the table of settings', () => {
  it('has every variable that the configuration reads, once', () =>
    expect([...settingNames].sort()).toEqual(namesRead()));

  it.each(settings)('$name: the documented default is the one in force, wherever the node runs', (setting) => {
    if (setting.default === null) expect(setting.defaultText).toBeTruthy();
    for (const [env, placement] of placements) {
      const value = defaultOf(setting, placement);
      if (value !== null && setting.production !== 'required' && !(setting.name in env))
        expectDefault(env, setting, value);
    }
  });

  it.each(settings)(
    '$name: its example is accepted; production refuses to start without what it requires',
    (setting) => {
      const { name, example, production: inProduction } = setting;
      const { CHAIN_RPC_URL: _url, CHAIN_ID: _id, ...others } = production as Record<string, string>;
      const onTest: Record<string, string> = { ...production, CHAIN_ID: '84532' };
      const base =
        { NETWORKS: others, LOCAL_CHAINS: {}, LOCAL_TOKENS: {}, FAUCET_PRIVATE_KEY: onTest }[name] ?? production;
      expect(() => readConfig({ ...base, [name]: example })).not.toThrow();
      if (inProduction === 'required') expect(() => readConfig({ ...production, [name]: undefined })).toThrow(name);
    },
  );

  it('marks what may hold a key or a password', () => {
    const secret = settings.filter(({ isSecret }) => isSecret).map(({ name }) => name);
    expect(secret).toEqual(
      expect.arrayContaining(
        settings
          .map(({ name }) => name)
          .filter((name) => /PRIVATE_KEY|SECRET_KEY|(DATABASE|RPC)_URL$|HEADERS/.test(name)),
      ),
    );
  });

  it.each(settings.filter(({ isSecret }) => isSecret))(
    '$name: a wrong value is refused without being repeated',
    ({ name }) => {
      const messageOf = (env: Record<string, string>) => {
        try {
          readConfig(env);
          return '';
        } catch (error) {
          return String(error);
        }
      };
      expect(messageOf({ ...production, [name]: 'hidden//user:hidden@x' })).not.toContain('hidden');
    },
  );

  it('BASE_URL, which everybody sees, has no password in it', () =>
    expect(() => readConfig({ BASE_URL: 'https://user:hidden@x.example' })).toThrow(/^(?!.*hidden)BASE_URL must/s));
});
