import { type KnownChainId, LOCAL_CHAIN_ID } from '@agent-network/chain/addresses';
import { nameText } from '@agent-network/contracts/display-text';
import { type Gateway, gateways } from '@agent-network/contracts/endpoint';
import { problemText } from '../lib/json/problem-text.ts';
import { type AddressRanges, parseAddressRanges } from '../lib/net/address-ranges.ts';
import { isLoopbackHost } from '../lib/net/guarded-fetch-address.ts';
import { isServerAddress } from '../lib/net/guarded-fetch-resolve.ts';
import { hostUrls } from '../lib/net/host-urls.ts';
import { type ArmedFailpoint, parseFailpoint } from '../lib/process/failpoint.ts';
import { ConfigError, type Env, flag, integer, readAll } from '../lib/read-env.ts';
import type { LogLevel } from '../lib/telemetry/log.ts';
import type { TracingSettings } from '../lib/telemetry/open-telemetry.ts';
import { type FileSettings, readFileSettings } from './files.ts';
import { type ConfiguredSecrets, readSecrets, refuseFaucetOn, withSecretFiles } from './keys.ts';
import { type Limits, readLimits } from './limits.ts';
import { type Confirmations, isLocalChain, type NetworkSettings, readNetworks } from './networks.ts';
import {
  type ChannelClaimSettings,
  type ChannelSettings,
  type FaucetSettings,
  type PaymentLimits,
  readChannelClaims,
  readChannelSettings,
  readFaucet,
  readFormerWallets,
  readNewKeyLimit,
  readPaymentLimits,
} from './payments.ts';
import { readSearch, type SearchSettings } from './search.ts';

/** Null: off. The exporter itself reads OTEL_EXPORTER_OTLP_HEADERS, which may hold a credential. */
function readTracing(env: Env): TracingSettings | null {
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const ratio = ratioOf(env.TRACE_SAMPLE_RATIO ?? '0.01');
  const perSecond = integer(env, 'TRACES_PER_SECOND', 10, 1, 1000);
  void env.OTEL_EXPORTER_OTLP_HEADERS;
  if (endpoint === undefined || endpoint === '') return null;
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
    throw new ConfigError('OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL.');
  return { endpoint, ratio, perSecond };
}

function ratioOf(text: string): number {
  const ratio = /^(0|1|0?\.\d{1,6}|1\.0{1,6})$/.test(text) ? Number(text) : Number.NaN;
  if (!(ratio >= 0 && ratio <= 1)) throw new ConfigError('TRACE_SAMPLE_RATIO must be a number from 0 to 1.');
  return ratio;
}

/** Links to what the operator publishes about the node; null: nothing is set, and no link is shown. */
export interface OperatorLinks {
  /** URL of the terms of use. */
  readonly terms: string | null;
  /** URL of the privacy policy. */
  readonly privacy: string | null;
  /** URL where abuse is reported: a web page, or `mailto:` with the address that is set. */
  readonly abuse: string | null;
}

export interface Config extends Limits, FileSettings {
  /** `local`: missing parts are created in DATA_DIR. `production`: everything must be configured. */
  readonly mode: 'local' | 'production';
  readonly host: string;
  /** Local mode that other machines reach: by its listening address, by BASE_URL, or through a proxy. Local-only features are then off. */
  readonly isExposed: boolean;
  /** 0: any free port. */
  readonly port: number;
  /** Proxies in front of this process that are trusted to set `X-Forwarded-For`. */
  readonly trustedProxies: AddressRanges;
  /** null: made from host and port. */
  readonly baseUrl: string | null;
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  /** File in which acknowledged positions of the database outlive this process; null: none. */
  readonly databasePromiseFile: string | null;
  readonly chainRpcUrl: string | null;
  readonly chainId: KnownChainId;
  /** Networks besides that of `chainId`, which is the default network. */
  readonly furtherNetworks: readonly NetworkSettings[];
  /** Ids of further chains that local mode starts. */
  readonly localChainIds: readonly number[];
  /** Addresses of further tokens that are taken on the first of them. */
  readonly localTokens: readonly string[];
  /** Former addresses of the node's wallet, lower case. Their transfers to the wallet are credited to no account. */
  readonly formerWallets: readonly string[];
  readonly nodeLabel: string;
  readonly allowPrivateEndpoints: boolean;
  /** DNS servers for the hosts of agents and webhooks; empty: the system's. */
  readonly dnsServers: readonly string[];
  readonly logLevel: LogLevel;
  readonly databaseConnections: number;
  /** Time between the first answer of `/readyz` that the node stops, and its refusal of connections. */
  readonly drainMs: number;
  readonly confirmations: Confirmations;
  /** Confirmation depth at which a plain transfer to the node's wallet is credited; 1: included in a block. */
  readonly transferDepthBlocks: number;
  /** First block to read of the shared registry. */
  readonly registryStartBlock: bigint;
  /** Interval of reading the shared registry. */
  readonly registryPollMs: number;
  /** Interval of polling every other node for changes of its agents; null: chosen by the chain. */
  readonly networkPollMs: number | null;
  /** Nodes and agents of others that are never listed: base URLs, and token ids. */
  readonly networkRefused: readonly string[];
  /** The node's fee on agents' earnings, in basis points (hundredths of a percent). */
  readonly platformFeeBps: number;
  readonly paymentLimits: PaymentLimits;
  readonly faucetSettings: FaucetSettings;
  /** The limit that a key has for each call when it is created without one; null: none. */
  readonly newKeyPerCallMicro: bigint | null;
  readonly channels: ChannelSettings;
  readonly channelClaimSettings: ChannelClaimSettings;
  /** True if feedback of settled calls is written to the shared reputation registry. */
  readonly reputationFeedback: boolean;
  /** Failpoint at which this process dies, for tests; null: none, as always in production. */
  readonly failpoint: ArmedFailpoint | null;
  /** Origins of pages that may call the MCP gateway; null: the node's own, and those of this machine on a loopback listener. */
  readonly mcpAllowedOrigins: readonly string[] | null;
  readonly searchSettings: SearchSettings;
  /** The enabled gateways, besides REST. */
  readonly gateways: ReadonlySet<Gateway>;
  /** True if /dashboard is served, and built when necessary. */
  readonly servesDashboard: boolean;
  /** Links to the operator's own texts, shown on every page. */
  readonly operatorLinks: OperatorLinks;
  /** Destination of traces; null: off. */
  readonly tracing: TracingSettings | null;
}

export interface ReadConfig {
  readonly config: Config;
  readonly secrets: ConfiguredSecrets;
}

/** Reads the configuration (docs/design.md, section 6). Throws ConfigError that names every wrong variable, with its valid values. */
export const readConfig = (env: Env): ReadConfig => readAll(withSecretFiles(env), readSettings);

/** `wrong`: settings that were found wrong before, and are left out of `env`. */
function readSettings(env: Env, wrong: ReadonlySet<string>): ReadConfig {
  const mode = modeOf(env.NODE_ENV);
  const secrets = readSecrets(env, mode);
  const host = env.HOST ?? '127.0.0.1';
  const baseUrl = env.BASE_URL === undefined ? null : publicUrlOf(env.BASE_URL);
  const trustedProxies = addressesOf('TRUSTED_PROXIES', env.TRUSTED_PROXIES ?? '');
  const { gasPerDayWei, ...networks } = readNetworks(env, mode);
  refuseFaucetOn(networks.chainId, secrets);
  const isLocal = isLocalChain({ mode, ...networks });
  const deepestBlocks = Math.max(...networks.confirmations.map(({ depthBlocks }) => depthBlocks));
  const isPrivate = mode === 'local' && !isReached({ host, baseUrl, trustedProxies });
  const paymentLimits = readPaymentLimits(env, { mode, gasPerDayWei });
  const config: Config = Object.freeze({
    host,
    isExposed: mode === 'local' && !isPrivate,
    port: integer(env, 'PORT', 4020, 0, 65_535),
    baseUrl,
    trustedProxies,
    dataDir: env.DATA_DIR ?? '.agent-network',
    databaseUrl: env.DATABASE_URL === undefined ? null : databaseUrlOf(env.DATABASE_URL),
    // Empty as in a file of settings in which it was not filled in.
    databasePromiseFile: env.DATABASE_PROMISE_FILE || null,
    mode,
    ...networks,
    formerWallets: readFormerWallets(env),
    nodeLabel: labelOf(env.NODE_LABEL ?? 'local'),
    allowPrivateEndpoints: flag(env, 'ALLOW_PRIVATE_ENDPOINTS', isPrivate),
    dnsServers: dnsServersOf(env.DNS_SERVERS ?? ''),
    logLevel: logLevelOf(env, mode),
    ...readFileSettings(env, { isPrivate, dataDir: env.DATA_DIR ?? '.agent-network' }),
    ...readLimits(env, { isPrivate, isTest: networks.chainId === LOCAL_CHAIN_ID }),
    databaseConnections: integer(env, 'DATABASE_CONNECTIONS', 16, 4, 500),
    drainMs: 1000 * integer(env, 'DRAIN_SECONDS', 0, 0, 60),
    registryStartBlock: BigInt(integer(env, 'REGISTRY_START_BLOCK', 0, 0, 2_000_000_000)),
    registryPollMs: integer(env, 'REGISTRY_POLL_MS', isLocal ? 250 : 2000, 100, 60_000),
    networkPollMs: env.NETWORK_POLL_MS === undefined ? null : integer(env, 'NETWORK_POLL_MS', 0, 100, 3_600_000),
    networkRefused: refusedOf(env.NETWORK_REFUSED ?? ''),
    platformFeeBps: integer(env, 'PLATFORM_FEE_BPS', 0, 0, 5000),
    paymentLimits,
    faucetSettings: readFaucet(env, { isLocal, ...paymentLimits }),
    newKeyPerCallMicro: readNewKeyLimit(env),
    channels: readChannelSettings(env, { mode, deepestBlocks }),
    channelClaimSettings: readChannelClaims(env, mode),
    reputationFeedback: flag(env, 'REPUTATION_FEEDBACK', mode === 'local'),
    failpoint: failpointOf(env, mode),
    mcpAllowedOrigins: originsOf(env.MCP_ALLOWED_ORIGINS),
    searchSettings: readSearch(env),
    gateways: gatewaysOf(env.GATEWAYS ?? env.FACES),
    servesDashboard: flag(env, 'DASHBOARD', true),
    operatorLinks: operatorLinksOf(env),
    tracing: readTracing(env),
  });
  if (mode === 'production') requireExplicit(env, wrong);
  return { config, secrets };
}

/** Refuses other names: a misspelt `production` would be local mode, with its defaults and comforts. */
export function modeOf(text: string | undefined): Config['mode'] {
  if (text === 'production') return 'production';
  if (text === undefined || ['', 'local', 'development', 'test'].includes(text)) return 'local';
  throw new ConfigError('NODE_ENV must be production, or for local mode local, development, test or not set.');
}

/** True if other machines can reach the node. A proxy on this machine may forward requests of anybody. */
const isReached = ({ host, baseUrl, trustedProxies }: Pick<Config, 'host' | 'baseUrl' | 'trustedProxies'>): boolean =>
  !isLoopbackHost(host) ||
  (baseUrl !== null && !isLoopbackHost(new URL(baseUrl).hostname)) ||
  trustedProxies.length > 0;

/** Requires every setting in production: it handles other people's money. */
function requireExplicit(env: Env, wrong: ReadonlySet<string>): void {
  const names = [
    'DATABASE_URL',
    ...(env.NETWORKS || wrong.has('NETWORKS') ? [] : ['CHAIN_RPC_URL', 'CHAIN_ID']),
    'SETTLEMENT_PRIVATE_KEY',
    'SECRET_KEY',
    'BASE_URL',
    'NODE_LABEL',
  ];
  const missing = names.filter((name) => env[name] === undefined && !wrong.has(name));
  if (missing.length > 0) throw new ConfigError(`NODE_ENV=production needs ${missing.join(', ')}.`);
}

/** Validates the label as other nodes do. */
function labelOf(text: string): string {
  const parsed = nameText(64).min(1).safeParse(text, { error: problemText });
  if (!parsed.success) throw new ConfigError(`NODE_LABEL ${parsed.error.issues[0]?.message}.`);
  return parsed.data;
}

function failpointOf(env: Env, mode: Config['mode']): ArmedFailpoint | null {
  const text = env.FAILPOINT;
  if (text === undefined) return null;
  if (mode === 'production') throw new ConfigError('FAILPOINT is for tests only and is refused in production.');
  const failpoint = parseFailpoint(text);
  if (!failpoint) throw new ConfigError('FAILPOINT must be the name of a failpoint, or name:n.');
  return failpoint;
}

function addressesOf(name: string, text: string): AddressRanges {
  const ranges = parseAddressRanges(text);
  if (!ranges) throw new ConfigError(`${name} must be IP addresses or ranges like 10.0.0.0/8, separated by commas.`);
  return ranges;
}

function urlOf(name: string, text: string, protocol: RegExp): string {
  if (!protocol.test(URL.parse(text)?.protocol ?? '')) throw new ConfigError(`${name} must be a URL.`);
  return text;
}

/** Several hosts may be named, as libpq has it. */
function databaseUrlOf(text: string): string {
  for (const url of hostUrls(text)) urlOf('DATABASE_URL', url, /^postgres(ql)?:$/);
  return text;
}

/** The public address has no user or password: everybody is shown it. */
function publicUrlOf(text: string): string {
  const url = new URL(urlOf('BASE_URL', text, /^https?:$/));
  if (url.username !== '' || url.password !== '')
    throw new ConfigError('BASE_URL must be a URL without a user and a password.');
  return baseUrlOf(text);
}

/** Normalises a base URL, without a trailing slash: nodes identify each other by this spelling. */
const baseUrlOf = (text: string): string => new URL(text).href.replace(/\/$/, '');

const MAX_LINK_CHARS = 2048;

function operatorLinksOf(env: Env): OperatorLinks {
  return {
    terms: linkOf('TERMS_URL', env.TERMS_URL),
    privacy: linkOf('PRIVACY_URL', env.PRIVACY_URL),
    abuse: contactOf(env.ABUSE_CONTACT),
  };
}

/** Everybody is shown it: it has no user or password. */
function isWebPage(text: string): boolean {
  const url = text.length <= MAX_LINK_CHARS ? URL.parse(text) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

/** Empty as in a file of settings in which it was not filled in. */
function linkOf(name: string, text: string | undefined): string | null {
  if (text === undefined || text === '') return null;
  if (!isWebPage(text)) throw new ConfigError(`${name} must be an http or https URL.`);
  return new URL(text).href;
}

function contactOf(text: string | undefined): string | null {
  if (text === undefined || text === '') return null;
  if (isWebPage(text)) return new URL(text).href;
  if (!/^[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+$/.test(text) || text.length > 254)
    throw new ConfigError('ABUSE_CONTACT must be an e-mail address or an http or https URL.');
  return `mailto:${text}`;
}

function originsOf(text: string | undefined): readonly string[] | null {
  if (text === undefined) return null;
  const origins = text === '' ? [] : text.split(',').map((part) => part.trim());
  if (!origins.every((origin) => URL.parse(origin)?.origin === origin))
    throw new ConfigError('MCP_ALLOWED_ORIGINS must be origins like https://host.example, separated by commas.');
  return origins;
}

function refusedOf(text: string): readonly string[] {
  const parts = text === '' ? [] : text.split(',').map((part) => part.trim());
  if (!parts.every((part) => /^\d{1,78}$/.test(part) || /^https?:$/.test(URL.parse(part)?.protocol ?? '')))
    throw new ConfigError('NETWORK_REFUSED must be base URLs of nodes or token ids, separated by commas.');
  return parts.map((part) => (/^\d+$/.test(part) ? part : baseUrlOf(part)));
}

function gatewaysOf(text: string = gateways.join(',')): ReadonlySet<Gateway> {
  const named = text === '' ? [] : text.split(',').map((name) => name.trim());
  const known = gateways.filter((gateway) => named.includes(gateway));
  if (known.length !== new Set(named).size)
    throw new ConfigError(`GATEWAYS must be some of ${gateways.join(', ')}, separated by commas, or empty.`);
  return new Set(known);
}

function logLevelOf(env: Env, mode: Config['mode']): LogLevel {
  const level = env.LOG_LEVEL ?? (mode === 'local' ? 'warn' : 'info');
  const levels: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
  if (!levels.includes(level)) throw new ConfigError(`LOG_LEVEL must be one of ${levels.join(', ')}.`);
  return level as LogLevel;
}

function dnsServersOf(text: string): string[] {
  const servers = text.split(',').flatMap((each) => each.trim() || []);
  if (servers.every(isServerAddress)) return servers;
  throw new ConfigError('DNS_SERVERS must be IP addresses with or without a port, separated by commas.');
}
