import { agentRegistryOf, NodePart, REGISTRATION_TYPE } from '@agent-network/contracts/agents/registration';
import { isObject, scalarText } from '../lib/json/json-object.ts';
import type { Entry, Reason } from './entry.ts';

/** The registry of this node's chain. */
export interface RegistryPlace {
  readonly chainId: number;
  readonly registry: string;
}

/** The reason to refuse a registration file that is not of this kind; other ERC-8004 content is ignored. */
export function faultOfKind(file: unknown, kind: 'node' | 'agent'): Reason | null {
  if (!isObject(file) || !isObject(file.agentNetwork)) return 'bad_file';
  if (file.type !== REGISTRATION_TYPE) return 'wrong_type';
  return file.agentNetwork.kind === kind ? null : 'wrong_kind';
}

/** The reason to refuse a file that does not name this token of the registry on this chain; it may name others. */
export function faultOfToken(file: unknown, tokenId: string, { chainId, registry }: RegistryPlace): Reason | null {
  const list: unknown = isObject(file) ? file.registrations : null;
  if (!Array.isArray(list)) return 'bad_file';
  if (list.length === 0) return 'no_token';
  const here = agentRegistryOf(chainId, registry);
  const ours = list.filter((each) => isObject(each) && scalarText(each.agentRegistry).toLowerCase() === here);
  if (ours.length === 0) return 'other_chain';
  return ours.some(({ agentId }) => scalarText(agentId) === tokenId) ? null : 'other_token';
}

/** A node's description of itself. */
export interface NodeDescription {
  readonly label: string;
  readonly version: string;
  /** Lower case. */
  readonly wallet: string;
  /** True if it passes questions of agents on to their callers. */
  readonly isInteractive: boolean;
}

const NOBODY = `0x${'0'.repeat(40)}`;

/** Validates the file behind a node's entry: it belongs to that node and names the entry's token. */
export function judgeNodeFile(
  file: unknown,
  entry: Pick<Entry, 'baseUrl' | 'tokenId'>,
  here: RegistryPlace & { readonly wallet: string },
): NodeDescription | Reason {
  const fault = faultOfKind(file, 'node');
  if (fault) return fault;
  const parsed = NodePart.safeParse((file as { agentNetwork: unknown }).agentNetwork);
  if (!parsed.success) return 'bad_file';
  const { baseUrl, label, version, wallet, features = [] } = parsed.data;
  if (baseUrl !== entry.baseUrl) return 'other_address';
  const other = faultOfToken(file, entry.tokenId, here);
  if (other) return other;
  const address = wallet.toLowerCase();
  if (address === NOBODY) return 'no_wallet';
  const isInteractive = features.includes('interactive');
  return address === here.wallet.toLowerCase() ? 'our_wallet' : { label, version, wallet: address, isInteractive };
}
