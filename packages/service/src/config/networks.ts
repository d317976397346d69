import {
  isKnownChainId,
  type KnownChainId,
  LOCAL_CHAIN_ID,
  payableChain,
  payableChainIds,
  payableTokens,
} from '@agent-network/chain/addresses';
import { parseUsdc } from '@agent-network/contracts/money';
import { z } from 'zod';
import { problemText } from '../lib/json/problem-text.ts';
import { ConfigError, type Env, integer, readSettingFile } from '../lib/read-env.ts';

/**
 * Confirmation depth by amount, in rising order from 0; depth 1 means included in a block. The last step that does not exceed the amount
 * applies.
 */
export type Confirmations = readonly { readonly fromMicro: bigint; readonly depthBlocks: number }[];

/** A network that the node is paid on. */
export interface NetworkSettings {
  readonly chainId: number;
  /** JSON-RPC URLs, separated by spaces; each is tried when the one before does not answer. */
  readonly rpcUrl: string;
  /** The token that is taken there; absent: USDC. */
  readonly token?: string;
  readonly confirmations: Confirmations;
  /** Confirmation depth at which a plain transfer to the node's wallet is credited; 1: included in a block. */
  readonly transferDepthBlocks: number;
  /** Wei of the network's own coin that the sending keys may spend on gas in 24 hours; null: no cap; absent: the default network's cap. */
  readonly gasPerDayWei?: bigint | null;
  /** True on a development chain on this machine. */
  readonly isLocal: boolean;
}

type Mode = 'local' | 'production';

/** Networks of the node, as settings name them. */
interface Networks {
  readonly chainId: KnownChainId;
  /** null: local mode starts the chain. */
  readonly chainRpcUrl: string | null;
  readonly confirmations: Confirmations;
  readonly transferDepthBlocks: number;
  /** Maximum wei for gas in 24 hours on the network of `chainId`; null: no cap. */
  readonly gasPerDayWei: bigint | null;
  /** Networks besides that of `chainId`, which is the default network. */
  readonly furtherNetworks: readonly NetworkSettings[];
  /** Ids of further chains that local mode starts. */
  readonly localChainIds: readonly number[];
  /** Addresses of further tokens that are taken on the first chain that local mode starts. */
  readonly localTokens: readonly string[];
}

/** Chains that local mode starts, in order. */
const LOCAL_IDS = [LOCAL_CHAIN_ID, 421_614, 80_002];

/** Reads `NETWORKS`, or else `CHAIN_RPC_URL` and `CHAIN_ID`: one network. */
export function readNetworks(env: Env, mode: Mode): Networks {
  const [first, ...furtherNetworks] = readList(env, mode) ?? [];
  const count = integer(env, 'LOCAL_CHAINS', 1, 1, LOCAL_IDS.length);
  if (count > 1 && (mode === 'production' || first || env.CHAIN_RPC_URL !== undefined))
    throw new ConfigError(
      'LOCAL_CHAINS must be removed: this node starts no chain (production, NETWORKS or CHAIN_RPC_URL).',
    );
  const localChainIds = LOCAL_IDS.slice(1, count);
  const localTokens = readLocalTokens(env, mode === 'local' && !first && env.CHAIN_RPC_URL === undefined);
  const ofLocal = { localChainIds, localTokens };
  if (!first) return { ...readOnly(env, mode), furtherNetworks: [], ...ofLocal };
  const { chainId, rpcUrl, confirmations, transferDepthBlocks, gasPerDayWei = null } = first;
  return {
    ...{ chainId: chainId as KnownChainId, chainRpcUrl: rpcUrl, confirmations, transferDepthBlocks, gasPerDayWei },
    ...{ furtherNetworks, ...ofLocal },
  };
}

/** `LOCAL_TOKENS`: symbols, USDC first. */
function readLocalTokens(env: Env, startsChain: boolean): string[] {
  const [first, ...symbols] = (env.LOCAL_TOKENS ?? 'USDC').split(',').map((each) => each.trim());
  const local = payableTokens.filter(({ chainId, isLocal }) => isLocal && chainId === LOCAL_CHAIN_ID);
  const tokens = symbols.map((symbol) => local.find((each) => each.symbol === symbol));
  const isGood = first === 'USDC' && new Set(symbols).size === symbols.length && !tokens.includes(undefined);
  if (!isGood)
    throw new ConfigError(
      `LOCAL_TOKENS must be USDC, and any of ${local.map(({ symbol }) => symbol).join(', ')} after it.`,
    );
  if (symbols.length > 0 && !startsChain)
    throw new ConfigError(
      'LOCAL_TOKENS must be removed: this node starts no chain (production, NETWORKS or CHAIN_RPC_URL).',
    );
  return tokens.flatMap((each) => each?.address ?? []);
}

function readOnly(env: Env, mode: Mode) {
  const chainId = integer(env, 'CHAIN_ID', 84_532, 1, 1_000_000_000);
  if (!isKnownChainId(chainId))
    throw new ConfigError('CHAIN_ID must be 8453 (Base) or 84532 (Base Sepolia, and the local chain).');
  const url = env.CHAIN_RPC_URL;
  if (url !== undefined && !isRpcUrl(url)) throw new ConfigError('CHAIN_RPC_URL must be a URL.');
  const chainRpcUrl = url ?? null;
  const depths = depthsOf(env, isLocalChain({ mode, chainId, chainRpcUrl }));
  return { chainId, chainRpcUrl, ...depths, gasPerDayWei: readGasPerDay('GAS_PER_DAY', env.GAS_PER_DAY) };
}

/** A cap of gas, in a network's own coin; null: none. */
function readGasPerDay(name: string, text: string | undefined): bigint | null {
  if (text === undefined) return null;
  const [, whole = '', part = ''] = /^(\d{1,6})(?:\.(\d{1,18}))?$/.exec(text) ?? [];
  const wei = BigInt(whole + part.padEnd(18, '0'));
  if (whole === '' || wei === 0n)
    throw new ConfigError(`${name} must be an amount of ETH, or of the network's own coin, like 0.05, above 0.`);
  return wei;
}

/** `CONFIRMATIONS` and `TRANSFER_CONFIRMATIONS`, the defaults for networks without their own. */
const depthsOf = (env: Env, isLocal: boolean) => ({
  confirmations: confirmationsOf('CONFIRMATIONS', env.CONFIRMATIONS ?? (isLocal ? '0:1' : '0:1,10:3,1000:12')),
  transferDepthBlocks: integer(env, 'TRANSFER_CONFIRMATIONS', isLocal ? 1 : 12, 1, 10_000),
});

/** A further chain that local mode has started, or a further token on one. */
export const localNetwork = (chainId: number, rpcUrl: string, token?: string): NetworkSettings => ({
  ...{ chainId, rpcUrl, isLocal: true, transferDepthBlocks: 1, ...(token && { token }) },
  confirmations: [{ fromMicro: 0n, depthBlocks: 1 }],
});

/** True on a development chain: our own, or one on this machine that another node started. */
export function isLocalChain({
  mode,
  chainId,
  chainRpcUrl,
}: {
  readonly mode: Mode;
  readonly chainId: number;
  readonly chainRpcUrl: string | null;
}): boolean {
  if (mode !== 'local' || !LOCAL_IDS.includes(chainId)) return false;
  const isHere = (url: string) => /^(127\.|localhost$|\[::1\]$)/.test(new URL(url).hostname);
  return chainRpcUrl === null || chainRpcUrl.split(' ').every(isHere);
}

const MAX_NETWORKS = 16;
const MAX_URLS = 8;
const settlers = ['own'] as const;

const symbols = [...new Set(payableTokens.map(({ symbol }) => symbol))];

const Entry = z.strictObject({
  id: z.enum(payableChainIds.map((id): `eip155:${number}` => `eip155:${id}`)),
  rpcUrls: z
    .array(z.string().refine(isRpcUrl, { error: 'must be an http or https URL' }))
    .min(1)
    .max(MAX_URLS),
  tokens: z.array(z.enum(symbols)).min(1).default(['USDC']),
  confirmations: z.string().optional(),
  transferDepthBlocks: z.int().min(1).max(10_000).optional(),
  gasPerDay: z.string().optional(),
  settlers: z
    .array(z.enum(settlers))
    .min(1)
    .default([...settlers]),
});

/** `NETWORKS`: JSON, or `@file`. null: not set. No message repeats an address: providers put their keys into it. */
function readList(env: Env, mode: Mode): readonly NetworkSettings[] | null {
  const text = env.NETWORKS;
  if (text === undefined || text === '') return null;
  if (env.CHAIN_RPC_URL !== undefined || env.CHAIN_ID !== undefined)
    throw new ConfigError(
      'NETWORKS takes the place of CHAIN_RPC_URL and CHAIN_ID: leave these out; the first entry is the default network.',
    );
  const entries = listOf(text).map((value, index) => networksOf(env, mode, { value, place: index + 1 }));
  const places = new Map<string, number>();
  for (const [index, networks] of entries.entries())
    for (const { chainId, token } of networks) {
      const other = places.get(`${chainId}/${token}`);
      if (other !== undefined) throw refused(index + 1, `id and token must not be those of entry ${other}`);
      places.set(`${chainId}/${token}`, index + 1);
    }
  const settings = entries.flat();
  const [first] = settings;
  if (!first || !isKnownChainId(first.chainId))
    throw refused(1, 'id of the default network must be eip155:8453 or eip155:84532, which have the registries');
  if (first.token !== payableChain(first.chainId)?.usdc.toLowerCase())
    throw refused(1, 'tokens of the default network must begin with USDC, in which prices are');
  const caps = Map.groupBy(settings, ({ chainId }) => chainId).values();
  if ([...caps].some((ofChain) => new Set(ofChain.map(({ gasPerDayWei }) => gasPerDayWei)).size > 1))
    throw new ConfigError('NETWORKS: gasPerDay must be the same in all entries of a network, whose tokens share it.');
  if (new Set(settings.map(({ chainId }) => payableChain(chainId)?.isTest)).size > 1)
    throw new ConfigError('NETWORKS must be all of real money or all of test money: the one would buy the other.');
  return settings;
}

function listOf(text: string): readonly unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text.startsWith('@') ? readSettingFile('NETWORKS', text.slice(1)) : text);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError('NETWORKS must be JSON, or @ and the path of a file with it.');
  }
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_NETWORKS)
    throw new ConfigError(`NETWORKS must be a JSON list of 1 to ${MAX_NETWORKS} networks.`);
  return value;
}

/** The networks of an entry: one for each token. */
function networksOf(env: Env, mode: Mode, { value, place }: { value: unknown; place: number }): NetworkSettings[] {
  const parsed = Entry.safeParse(value, { error: problemText });
  if (!parsed.success) throw refused(place, problemOf(parsed.error));
  const { id, rpcUrls, tokens, confirmations, transferDepthBlocks, gasPerDay } = parsed.data;
  const repeated = [tokens, rpcUrls].some((list) => new Set<string>(list).size < list.length);
  if (repeated) throw refused(place, 'tokens and rpcUrls must not have the same twice');
  const chainId = Number(id.slice('eip155:'.length));
  const rpcUrl = rpcUrls.join(' ');
  const isLocal = isLocalChain({ mode, chainId, chainRpcUrl: rpcUrl });
  const depths = depthsOf(env, isLocal);
  const network = {
    ...{ chainId, rpcUrl, isLocal },
    confirmations:
      confirmations !== undefined
        ? confirmationsOf(`NETWORKS entry ${place}: confirmations`, confirmations)
        : depths.confirmations,
    transferDepthBlocks: transferDepthBlocks ?? depths.transferDepthBlocks,
    gasPerDayWei:
      gasPerDay !== undefined
        ? readGasPerDay(`NETWORKS entry ${place}: gasPerDay`, gasPerDay)
        : readGasPerDay('GAS_PER_DAY', env.GAS_PER_DAY),
  };
  return tokens.map((symbol) => {
    const found = payableTokens.find((each) => each.chainId === chainId && each.symbol === symbol);
    if (!found || (found.isLocal && !isLocal)) throw refused(place, `tokens must be of ${id}, which has no ${symbol}`);
    return { ...network, token: found.address.toLowerCase() };
  });
}

function problemOf({ issues }: z.ZodError): string {
  const [issue] = issues;
  const path = issue?.path.join('.') || 'the entry';
  if (issue?.code !== 'unrecognized_keys') return `${path} ${issue?.message}`;
  const known = Object.keys(Entry.shape).join(', ');
  return `it has a field that is none of ${known}`;
}

const refused = (place: number, problem: string) => new ConfigError(`NETWORKS entry ${place}: ${problem}.`);

/** No spaces: several addresses are separated by them. */
function isRpcUrl(text: string): boolean {
  return !/\s/.test(text) && /^https?:$/.test(URL.parse(text)?.protocol ?? '');
}

function confirmationsOf(name: string, text: string): Confirmations {
  const refuse = () =>
    new ConfigError(`${name} must be like 0:1,10:3 (USDC:blocks, amounts rising from 0, 1 to 100 blocks).`);
  const steps = text.split(',').map((step) => {
    const match = /^(\d{1,9}(?:\.\d{1,6})?):(\d{1,3})$/.exec(step.trim());
    if (!match) throw refuse();
    return { fromMicro: parseUsdc(match[1] ?? ''), depthBlocks: Number(match[2]) };
  });
  const isRising = steps.every(
    ({ fromMicro }, index) => index === 0 || fromMicro > (steps[index - 1]?.fromMicro ?? 0n),
  );
  const areDeep = steps.every(({ depthBlocks }) => depthBlocks >= 1 && depthBlocks <= 100);
  if (steps[0]?.fromMicro !== 0n || !isRising || !areDeep) throw refuse();
  return steps;
}
