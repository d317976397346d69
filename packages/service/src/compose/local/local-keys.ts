import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { getAddress } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { createLocalSigner } from '../../chain/keys/local-signer.ts';
import { type ConfiguredSecrets, deriveKey } from '../../config/keys.ts';
import { replaceFile } from '../../lib/replace-file.ts';

type Hex = `0x${string}`;

export interface LocalWallet {
  readonly address: Hex;
  readonly privateKey: Hex;
}

/** All secrets of a local node, made once. The database has some only as hashes; here they are in clear. */
export interface LocalKeys {
  readonly secretKey: string;
  readonly settlementPrivateKey: Hex;
  readonly account: LocalWallet;
  readonly free: LocalWallet;
  readonly pro: LocalWallet;
  readonly wallets: readonly LocalWallet[];
  /** True if the wallets have their test money, on a chain that this node did not start. */
  isFunded?: boolean;
  /** Last port of the chain: other nodes may use it. */
  chainPort?: number;
  /** Ports of further chains, by chain id. */
  chainPorts?: Record<string, number>;
  apiKeys: { enterprise?: string; free?: string; pro?: string };
  agents: Record<string, { id: string; identityToken: string; port: number }>;
}

const WALLETS = 5;

export function newWallet(): LocalWallet {
  const privateKey = generatePrivateKey();
  return { address: getAddress(createLocalSigner(privateKey).address), privateKey };
}

/** Adds the keys of this folder to those that are configured; a faucet's only where the chain is one of this machine. */
export function withLocalKeys(
  configured: ConfiguredSecrets,
  local: LocalKeys,
  { isLocal }: { readonly isLocal: boolean },
): ConfiguredSecrets {
  const settlementPrivateKey = configured.settlementPrivateKey ?? local.settlementPrivateKey;
  // Whoever configures the wallet configures its senders as well.
  const senders = configured.settlementPrivateKey === null ? senderKeysOf(local) : [];
  return {
    settlementPrivateKey,
    senderPrivateKeys: configured.senderPrivateKeys ?? senders,
    // Data folders of older versions, and all processes of a node, then have it.
    registrarPrivateKey: configured.registrarPrivateKey ?? deriveKey(settlementPrivateKey, 'registrar'),
    faucetPrivateKey: configured.faucetPrivateKey ?? (isLocal ? deriveKey(settlementPrivateKey, 'faucet') : null),
    secretKeys: configured.secretKeys ?? [local.secretKey],
  };
}

const SENDERS = 2;

/** Derives the sending-only keys from the settlement key. */
const senderKeysOf = ({ settlementPrivateKey }: LocalKeys): Hex[] =>
  Array.from({ length: SENDERS }, (_, index) => deriveKey(settlementPrivateKey, `sender:${index}`));

const fileOf = (dataDir: string) => join(dataDir, 'secrets.json');

/** Reads the keys of this folder, or creates them. */
export async function loadLocalKeys(dataDir: string): Promise<LocalKeys> {
  const text = await readFile(fileOf(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text !== null) return JSON.parse(text) as LocalKeys;
  const keys: LocalKeys = {
    secretKey: randomBytes(32).toString('hex'),
    settlementPrivateKey: generatePrivateKey(),
    account: newWallet(),
    free: newWallet(),
    pro: newWallet(),
    wallets: Array.from({ length: WALLETS }, newWallet),
    apiKeys: {},
    agents: {},
  };
  await saveLocalKeys(dataDir, keys);
  return keys;
}

export const saveLocalKeys = (dataDir: string, keys: LocalKeys): Promise<void> =>
  writeSecretFile(fileOf(dataDir), keys);

/** Replaces a file in one step, readable by its owner only; makes its folder. */
export async function writeSecretFile(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await replaceFile(path, `${JSON.stringify(value, null, 2)}\n`);
}
