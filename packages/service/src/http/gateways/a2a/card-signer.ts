import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, sign } from 'node:crypto';
import { canonicalJson } from '@agent-network/contracts/canonical-json';
import type { NodeKeys } from '../../../chain/keys/node-keys.ts';
import { cachedFlight } from '../../../lib/concurrency/single-flight.ts';
import type { Store } from '../../../store/database.ts';
import { findCardKey, keepCardKey, type StoredCardKey } from './card-key-store.ts';

/** A signature of a card (specification, 8.4): a JWS with the card as its payload. */
export interface CardSignature {
  readonly protected: string;
  readonly signature: string;
}

export interface CardSigner {
  /** Signs the canonical form (RFC 8785) of a value in its wire form. `jku`: the address of its key. */
  sign(value: object, jku: string): Promise<CardSignature>;
  /** The public key as a JSON Web Key Set. */
  jwks(): Promise<{ readonly keys: readonly object[] }>;
}

/** The P-256 key that signs cards. The private key may be in another process or device. */
export interface CardKey {
  readonly id: string;
  /** The public key. */
  readonly jwk: object;
  /** Signs bytes (ES256): r and s, 64 bytes. */
  sign(bytes: Buffer): Promise<Buffer>;
}

const base64url = (text: string) => Buffer.from(text).toString('base64url');

/** Signs cards. The key is opened for the first card, and again after a failure. */
export function createCardSigner(openKey: () => Promise<CardKey>): CardSigner {
  const key = cachedFlight(Number.POSITIVE_INFINITY, openKey);

  return {
    async sign(value, jku) {
      const signer = await key();
      const header = base64url(JSON.stringify({ alg: 'ES256', typ: 'JOSE', kid: signer.id, jku }));
      const signature = await signer.sign(
        Buffer.from(`${header}.${base64url(canonicalJson(JSON.parse(JSON.stringify(value))))}`),
      );
      return { protected: header, signature: signature.toString('base64url') };
    },
    async jwks() {
      const { id, jwk } = await key();
      return { keys: [{ ...jwk, kid: id, alg: 'ES256', use: 'sig' }] };
    },
  };
}

/** Opens the node's key for cards. It is made once and stored sealed, for all processes. */
export async function openCardKey(ctx: Store & Pick<NodeKeys, 'secrets'>): Promise<CardKey> {
  const make = (before: string | null) => keepCardKey(ctx.db, newKey(ctx), before, ctx.clock.now());
  const found = await findCardKey(ctx.db);
  const stored = found && opened(ctx, found) ? found : await make(found?.id ?? null);
  const key = createPrivateKey(ctx.secrets.open(stored.sealed));
  return {
    id: stored.id,
    jwk: createPublicKey(key).export({ format: 'jwk' }),
    sign: async (bytes) => sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }),
  };
}

/** False: it was sealed with another secret of the node. */
const opened = ({ secrets }: Pick<NodeKeys, 'secrets'>, { sealed }: StoredCardKey): boolean =>
  secrets.openOrNull(sealed) !== null;

function newKey(ctx: Pick<NodeKeys, 'secrets'>): StoredCardKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'base64url').slice(0, 22);
  return { id, sealed: ctx.secrets.seal(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()) };
}
