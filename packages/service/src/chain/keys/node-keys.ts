import type { ConfiguredSecrets } from '../../config/keys.ts';
import { invariant } from '../../lib/invariant.ts';
import { createSecrets, type Secrets } from '../../lib/secrets.ts';
import { createLocalSigner } from './local-signer.ts';
import type { Signer } from './signer.ts';

/** The keys of a node by purpose. Private keys and the sealing secret stay inside the function that creates this. */
export interface NodeKeys {
  /** The key that receives payments; it signs payouts, claims of channels and sign-ins at other nodes, and can send transactions. */
  readonly wallet: Signer;
  /** The keys that send transactions and pay their gas. All except the node's wallet have no other use. */
  readonly senders: readonly Signer[];
  /** The key that writes to the registry and holds unclaimed tokens; null: this node does not write there. */
  readonly registrar: Signer | null;
  /** The key of the wallet with test USDC for accounts; null: this node gives none. It signs nothing else. */
  readonly faucet: Signer | null;
  /** The key that signs receipts of requests and of x402 payments: the wallet's, so that callers recognise it. */
  readonly receiptSigner: Signer;
  readonly secrets: Secrets;
}

/** Makes the keys of a node. In local mode, `configured` includes the keys of the data folder. */
export function createNodeKeys(configured: ConfiguredSecrets): NodeKeys {
  const { settlementPrivateKey, senderPrivateKeys, registrarPrivateKey, faucetPrivateKey, secretKeys } = configured;
  invariant(settlementPrivateKey !== null && secretKeys !== null, 'keys are configured or made by local mode');
  const wallet = createLocalSigner(settlementPrivateKey);
  const further = (senderPrivateKeys ?? []).map(createLocalSigner).filter(({ address }) => address !== wallet.address);
  return {
    wallet,
    senders: [wallet, ...new Map(further.map((sender) => [sender.address, sender])).values()],
    registrar:
      registrarPrivateKey === null || registrarPrivateKey === 'none' ? null : createLocalSigner(registrarPrivateKey),
    faucet: faucetPrivateKey === null ? null : createLocalSigner(faucetPrivateKey),
    receiptSigner: wallet,
    secrets: secretsOf(secretKeys),
  };
}

/** `secretKeys`: newest first. */
export function secretsOf([newest, ...older]: readonly string[]): Secrets {
  invariant(newest !== undefined, 'SECRET_KEY has a key');
  return createSecrets(newest, ...older);
}

/** All keys of the node that send transactions of any kind. */
export const keysOf = ({ senders, registrar }: Pick<NodeKeys, 'senders' | 'registrar'>): Signer[] =>
  registrar ? [...senders, registrar] : [...senders];

export const senderOf = (ctx: Pick<NodeKeys, 'senders' | 'registrar'>, address: string): Signer | undefined =>
  keysOf(ctx).find((sender) => sender.address === address);
