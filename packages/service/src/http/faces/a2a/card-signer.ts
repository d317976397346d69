import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject, sign } from 'node:crypto';
import { canonicalJson } from '@agent-network/contracts/canonical-json';
import type { Records } from '../../../db/records.ts';
import { cachedFlight } from '../../../lib/concurrency/single-flight.ts';
import type { HasSecrets } from '../../../lib/secrets.ts';
import { findCardKey, keepCardKey, type StoredCardKey } from './card-key-store.ts';

/** A signature of a card (specification, 8.4): a JWS whose payload is the card. */
export interface CardSignature {
  readonly protected: string;
  readonly signature: string;
}

export interface CardSigner {
  /** Signs the canonical form (RFC 8785) of a value as it is sent. `jku`: where its key is read. */
  sign(value: object, jku: string): Promise<CardSignature>;
  /** The public key as a JSON Web Key Set. */
  jwks(): Promise<{ readonly keys: readonly object[] }>;
}

interface Key {
  readonly id: string;
  readonly secret: KeyObject;
  readonly jwk: object;
}

const base64url = (text: string) => Buffer.from(text).toString('base64url');

/** Signs cards with the node's key for them, which is made once and stored sealed, for all processes. */
export function createCardSigner(ctx: Records & HasSecrets): CardSigner {
  const make = (before: string | null) => keepCardKey(ctx.db, newKey(ctx), before, ctx.clock.now());

  async function read(): Promise<Key> {
    const found = await findCardKey(ctx.db);
    const stored = found && opened(ctx, found) ? found : await make(found?.id ?? null);
    const secret = createPrivateKey(ctx.secrets.open(stored.sealed));
    const jwk = createPublicKey(secret).export({ format: 'jwk' });
    return { id: stored.id, secret, jwk: { ...jwk, kid: stored.id, alg: 'ES256', use: 'sig' } };
  }

  const key = cachedFlight(Number.POSITIVE_INFINITY, read);

  return {
    async sign(value, jku) {
      const { id, secret } = await key();
      const header = base64url(JSON.stringify({ alg: 'ES256', typ: 'JOSE', kid: id, jku }));
      const signed = Buffer.from(`${header}.${base64url(canonicalJson(JSON.parse(JSON.stringify(value))))}`);
      const signature = sign('sha256', signed, { key: secret, dsaEncoding: 'ieee-p1363' });
      return { protected: header, signature: signature.toString('base64url') };
    },
    jwks: async () => ({ keys: [(await key()).jwk] }),
  };
}

/** False: it was sealed with another secret of the node. */
const opened = ({ secrets }: HasSecrets, { sealed }: StoredCardKey): boolean => secrets.openOrNull(sealed) !== null;

function newKey(ctx: HasSecrets): StoredCardKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'base64url').slice(0, 22);
  return { id, sealed: ctx.secrets.seal(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()) };
}
