import { identityRegistryAbi } from '@agent-network/chain/identity-registry-abi';
import { encodeFunctionData, type Hex, stringToHex } from 'viem';
import type { RegistryIndex } from '../read/registry-tokens.ts';
import type { NewWrite } from './registry-write.ts';

type Call = Pick<NewWrite, 'target' | 'data' | 'gas' | 'tokenId' | 'uri'>;

/**
 * Gas of a stored text: a storage slot per 32 bytes. Measured with our registry: 157,000 for an address of 96 bytes; the published one does
 * more.
 */
const gasOfText = (text: string) => 23_000n * BigInt(Math.ceil(Buffer.byteLength(text) / 32));
const GAS_OF_TOKEN = 200_000n;
const GAS_OF_CHANGE = 120_000n;
const GAS_OF_TRANSFER = 150_000n;

/** Mints a token that points to a URI; the sender owns it. */
export const registerCall = ({ registry }: RegistryIndex, uri: string): Call => ({
  target: registry.address,
  data: encodeFunctionData({ abi: identityRegistryAbi, functionName: 'register', args: [uri] }),
  gas: GAS_OF_TOKEN + gasOfText(uri),
  tokenId: null,
  uri,
});

/** Changes the URI of a token. */
export const uriCall = ({ registry }: RegistryIndex, tokenId: string, uri: string): Call => ({
  target: registry.address,
  data: encodeFunctionData({ abi: identityRegistryAbi, functionName: 'setAgentURI', args: [BigInt(tokenId), uri] }),
  gas: GAS_OF_CHANGE + gasOfText(uri),
  tokenId,
  uri,
});

/** Transfers a token. Not `safeTransferFrom`: the recipient has proven the wallet, and its code must not run. */
export const transferCall = (
  { registry }: RegistryIndex,
  { tokenId, from, to }: { tokenId: string; from: string; to: string },
): Call => ({
  target: registry.address,
  data: encodeFunctionData({
    abi: identityRegistryAbi,
    functionName: 'transferFrom',
    args: [from as Hex, to as Hex, BigInt(tokenId)],
  }),
  gas: GAS_OF_TRANSFER,
  tokenId,
  uri: null,
});

/** Marks an entry as retired, because tokens are never burnt. `active` is the registration file's field for this, here as text. */
export const retireCall = ({ registry }: RegistryIndex, tokenId: string): Call => ({
  target: registry.address,
  data: encodeFunctionData({
    abi: identityRegistryAbi,
    functionName: 'setMetadata',
    args: [BigInt(tokenId), 'active', stringToHex('false')],
  }),
  gas: GAS_OF_CHANGE,
  tokenId,
  uri: null,
});
