import { identityRegistryAbi } from '@agent-network/chain/identity-registry-abi';
import { encodeFunctionData, type Hex, stringToHex } from 'viem';
import type { HasRegistry } from '../read/registry-info.ts';
import type { NewWrite } from './registry-write.ts';

type Call = Pick<NewWrite, 'target' | 'data' | 'gas' | 'tokenId' | 'uri'>;

/** Text takes a slot of storage for every 32 bytes. Measured with ours: 157,000 for an address of 96 bytes; the published one has more to do. */
const gasOfText = (text: string) => 23_000n * BigInt(Math.ceil(Buffer.byteLength(text) / 32));
const GAS_OF_TOKEN = 200_000n;
const GAS_OF_CHANGE = 120_000n;
const GAS_OF_TRANSFER = 150_000n;

/** Makes a token that points to an address, the sender's. */
export const registerCall = ({ registry }: HasRegistry, uri: string): Call => ({
  target: registry.address,
  data: encodeFunctionData({ abi: identityRegistryAbi, functionName: 'register', args: [uri] }),
  gas: GAS_OF_TOKEN + gasOfText(uri),
  tokenId: null,
  uri,
});

/** Has a token point to another address. */
export const uriCall = ({ registry }: HasRegistry, tokenId: string, uri: string): Call => ({
  target: registry.address,
  data: encodeFunctionData({ abi: identityRegistryAbi, functionName: 'setAgentURI', args: [BigInt(tokenId), uri] }),
  gas: GAS_OF_CHANGE + gasOfText(uri),
  tokenId,
  uri,
});

/** Gives a token away. Not the `safe` way: whoever owns it by the proof of a wallet takes it, and is not asked to run code. */
export const transferCall = (
  { registry }: HasRegistry,
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

/** Marks an entry as of no use: there is no burning. `active` is the word of the registration file for it, here as text. */
export const retireCall = ({ registry }: HasRegistry, tokenId: string): Call => ({
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
