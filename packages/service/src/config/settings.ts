import { LOCAL_CHAIN_ID } from '@agent-network/chain/addresses';
import type { Env } from '../lib/read-env.ts';
import { readConfig } from './config.ts';
import { isLocalChain } from './networks.ts';
import data from './settings.json' with { type: 'json' };

/**
 * A setting of a node, as in settings.json. docs/settings.md and `npm run operator -- settings` are generated from these; a test compares
 * every name, default and example with the configuration.
 */
export interface Setting {
  readonly name: string;
  /** Name that it had before, which is read for one version more. */
  readonly formerly?: string;
  /** One or two sentences, in Markdown: the effect of the value, its unit, its limits. */
  readonly meaning: string;
  /** Default in local mode as it would be written; null: unset, or made at the first start (`defaultText`). */
  readonly default: string | null;
  /** Default in words, where a value alone does not say it. */
  readonly defaultText?: string;
  /** Default where other machines reach the node in local mode. Production has it too, unless `production` differs. */
  readonly reached?: string;
  /** Default in production; `required`: production refuses to start without it. */
  readonly production?: string;
  /** Default on another chain than the local one. */
  readonly onPublicChain?: string;
  /** Default on Base, where money is real. */
  readonly onBase?: string;
  readonly example: string;
  /** True if the value is never printed. */
  readonly isSecret?: boolean;
  /** Version that introduced the setting; without it, the first release. */
  readonly since?: string;
}

interface SettingGroup {
  readonly title: string;
  readonly settings: readonly Setting[];
}

const UNLIMITED = '1000000000';
/** The settings by subject. */
export const settingGroups: readonly SettingGroup[] = data;
export const settings: readonly Setting[] = settingGroups.flatMap((group) => group.settings);

/** Every variable that the configuration reads. */
export const settingNames: readonly string[] = settings.flatMap(({ name, formerly }) => [name, formerly ?? []].flat());

/** Facts about a node's environment that defaults depend on. */
export interface Placement {
  readonly mode: 'local' | 'production';
  /** True if other machines reach a node in local mode. */
  readonly isReached: boolean;
  readonly isLocalChain: boolean;
  readonly isBase: boolean;
}

/** The value in force of a setting that is unset, as it would be written; null: see `defaultText`. */
export function defaultOf(setting: Setting, { mode, isReached, isLocalChain, isBase }: Placement): string | null {
  const candidates = [
    mode === 'production' && setting.production !== 'required' ? setting.production : undefined,
    mode === 'production' || isReached ? setting.reached : undefined,
    isBase ? setting.onBase : undefined,
    isLocalChain ? undefined : setting.onPublicChain,
    setting.default,
  ];
  return candidates.find((value) => value !== undefined) ?? null;
}

/** A setting with its value in force; `isDefault`: the environment does not set it. */
export interface SettingInForce {
  readonly name: string;
  readonly value: string;
  readonly isDefault: boolean;
}

/** Every setting with its value in an environment; of secrets, whether they are set. Throws ConfigError as the start does. */
export function settingsInForce(env: Env): SettingInForce[] {
  const { config } = readConfig(env);
  const placement = {
    mode: config.mode,
    isReached: config.isExposed,
    isLocalChain: isLocalChain(config),
    isBase: config.chainId !== LOCAL_CHAIN_ID,
  };
  return settings.map((setting) => {
    const { name, formerly, isSecret, defaultText } = setting;
    const given =
      env[name] ?? (formerly === undefined ? undefined : env[formerly]) ?? (isSecret ? env[`${name}_FILE`] : undefined);
    const fallback = defaultText ?? defaultOf(setting, placement) ?? '';
    if (given === undefined) return { name, value: fallback, isDefault: true };
    return { name, value: isSecret ? '(set, not printed)' : given, isDefault: false };
  });
}

const shownValue = (value: string): string => {
  if (value === UNLIMITED) return 'unlimited';
  return value === '' ? 'none' : `\`${value}\``;
};

function defaultCell(setting: Setting): string {
  const { production, reached, onPublicChain, onBase } = setting;
  const others = [
    production === 'required' ? 'required in production' : production && `production: ${shownValue(production)}`,
    reached && `reached by others: ${shownValue(reached)}`,
    onPublicChain && `public chain: ${shownValue(onPublicChain)}`,
    onBase && `Base: ${shownValue(onBase)}`,
  ];
  return [setting.defaultText ?? shownValue(setting.default ?? ''), ...others.filter(Boolean)].join('; ');
}

/** The reference of all settings, in Markdown. */
export function settingsPage(): string {
  const groups = settingGroups.map(({ title, settings }) => {
    const rows = settings.map((setting) => {
      const { name, formerly, meaning, example, since = FIRST_RELEASE } = setting;
      const before = formerly === undefined ? '' : ` Formerly \`${formerly}\`.`;
      return `| \`${name}\` | ${meaning}${before} | ${defaultCell(setting)} | \`${example}\` | ${since} |`;
    });
    return `## ${title}\n\n| Setting | Meaning | Default | Example | Since |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`;
  });
  return `${PAGE_START}\n${groups.join('\n')}`;
}

const FIRST_RELEASE = '0.1.0';
const PAGE_START = `# Settings

A node is configured by environment variables. \`npm start\` needs none of them. With \`NODE_ENV=production\` the node has no defaults for what only
you can know: it lists every missing setting. A wrong value stops the start, and the message says which values are valid. A setting with a key or a password may name a file instead: \`SECRET_KEY_FILE\` ([how](operating-a-node.md#keys)).

"Reached by others" is local mode that other machines can reach: a \`HOST\` that is not loopback, a public \`BASE_URL\`, or \`TRUSTED_PROXIES\`.
Production has these defaults too, unless it has its own. Such a node disables local conveniences: signing in without a wallet, agents and webhooks on private addresses, the example agents.

\`npm run operator -- settings\` prints the values in force. This page is written by \`npm run settings\`; do not edit it.
`;
