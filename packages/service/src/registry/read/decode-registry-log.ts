import { identityRegistryAbi, registryProxyAbi } from '@agent-network/chain/identity-registry-abi';
import { decodeAbiParameters, getAbiItem, type Hex, parseAbiParameters, type RpcLog, toEventSelector } from 'viem';
import type { RegistryLog } from './registry-logs.ts';

/** A registry log and its block. */
export type FoundLog = RegistryLog & { readonly blockHash: string };

type Said = Pick<RegistryLog, 'tokenId' | 'kind' | 'value'> & Partial<Pick<RegistryLog, 'bytes' | 'fault'>>;
type Reader = (topics: readonly string[], data: Hex) => Said | null;

const MAX_TEXT_BYTES = 8192;
const MAX_KEY_BYTES = 256;
const TEXT = parseAbiParameters('string');
const ENTRY = parseAbiParameters('string, bytes');
const WALLET_KEY = 'agentWallet';
const NOBODY = '0x0000000000000000000000000000000000000000';

const topicOf = (name: 'Registered' | 'URIUpdated' | 'MetadataSet' | 'Transfer') =>
  toEventSelector(getAbiItem({ abi: identityRegistryAbi, name }));

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  [topicOf('Registered'), ([, id], data) => ({ tokenId: numberIn(id), kind: 'registered', ...uriIn(data) })],
  [topicOf('URIUpdated'), ([, id], data) => ({ tokenId: numberIn(id), kind: 'uri', ...uriIn(data) })],
  [topicOf('Transfer'), ([, , to, id]) => ({ tokenId: numberIn(id), kind: 'owner', value: ownerIn(to) })],
  [topicOf('MetadataSet'), ([, id], data) => entryIn(numberIn(id), data)],
]);

/** Topic of the event that the registry's administrator logs when its code is replaced (the published registries are proxies). */
export const UPGRADED = toEventSelector(getAbiItem({ abi: registryProxyAbi, name: 'Upgraded' }));

/** First topics of all logs that are read. `MetadataUpdate` (ERC-4906) is left out: it adds nothing to the others. */
export const registryTopics: readonly Hex[] = [...readers.keys(), UPGRADED] as Hex[];

/** Decodes a raw log; null when the registry could not have written it. */
export function decodeRegistryLog(log: RpcLog): FoundLog | null {
  const { topics, data, blockNumber, logIndex, blockHash, transactionHash } = log;
  if (blockNumber === null || logIndex === null || blockHash === null || transactionHash === null) return null;
  try {
    const said = readers.get(topics[0] ?? '')?.(topics, data);
    if (!said) return null;
    const place = { block: BigInt(blockNumber), index: Number(logIndex), transactionHash, blockHash };
    return { bytes: null, fault: null, ...said, ...place };
  } catch {
    return null;
  }
}

function uriIn(data: Hex): Pick<RegistryLog, 'value' | 'fault'> {
  const [text] = decodeAbiParameters(TEXT, data);
  const fault = faultOf(text, MAX_TEXT_BYTES);
  return { value: fault === null ? text : '', fault };
}

/** The reason the database cannot store a text unchanged; null when it can. */
function faultOf(text: string, mostBytes: number): string | null {
  if (Buffer.byteLength(text) > mostBytes) return `longer than ${mostBytes} bytes`;
  return text.includes('\u0000') ? 'no text' : null;
}

/** Parses a 32-byte word. Throws when it is not one: a missing topic is not zero. */
function numberIn(topic: string | undefined): bigint {
  if (topic === undefined || !/^0x[0-9a-fA-F]{64}$/.test(topic)) throw new Error('not a 32-byte word');
  return BigInt(topic);
}

const ownerIn = (topic: string | undefined): string =>
  addressOf(`0x${numberIn(topic).toString(16).padStart(40, '0')}`) ?? '';

/**
 * Decodes a metadata entry. The wallet is stored among the metadata under a key of its own; a value that is not an address counts as no
 * wallet.
 */
function entryIn(tokenId: bigint, data: Hex): Said | null {
  const [key, bytes] = decodeAbiParameters(ENTRY, data);
  if (key === WALLET_KEY) return { tokenId, kind: 'wallet', value: addressOf(bytes) ?? '' };
  if (faultOf(key, MAX_KEY_BYTES) !== null) return null;
  const isTooLong = bytes.length > 2 + 2 * MAX_TEXT_BYTES;
  const fault = isTooLong ? `longer than ${MAX_TEXT_BYTES} bytes` : null;
  return { tokenId, kind: 'metadata', value: key, bytes: isTooLong ? null : bytes, fault };
}

/** Lower case; '' for the zero address; null when it is not an address. */
function addressOf(hex: string): string | null {
  const address = hex.toLowerCase();
  if (!/^0x[0-9a-f]{40}$/.test(address)) return null;
  return address === NOBODY ? '' : address;
}
