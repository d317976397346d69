import { NodePart } from '@agent-network/contracts/agents/registration';
import type { Entry, Reason } from './entry.ts';
import { faultOfKind, faultOfToken, type RegistryPlace } from './registered-file.ts';

/** A node's description of itself. */
export interface NodeDescription {
  readonly label: string;
  readonly version: string;
  /** Lower case. */
  readonly wallet: string;
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
  const { baseUrl, label, version, wallet } = parsed.data;
  if (baseUrl !== entry.baseUrl) return 'other_address';
  const other = faultOfToken(file, entry.tokenId, here);
  if (other) return other;
  const address = wallet.toLowerCase();
  if (address === NOBODY) return 'no_wallet';
  return address === here.wallet.toLowerCase() ? 'our_wallet' : { label, version, wallet: address };
}
