import { LRUCache } from 'lru-cache';
import { authorizationDigest, signerOf } from './authorization.ts';
import type { HasChain } from './chain-info.ts';
import type { SignedAuthorization } from './settlement-call.ts';
import type { HasUsdc } from './usdc-client.ts';

/** Tells signatures that cannot be good, without asking the token. */
export interface SignatureChecker {
  /** False: no token would take it. True: the paying key made it, or the paying address is a contract, which judges for itself. */
  mayBeGood(signed: SignedAuthorization): Promise<boolean>;
}

export interface HasSignatureChecker {
  readonly signatureChecker: SignatureChecker;
}

/** An address without code may get some; one that has code keeps it, but for keys that take it back (EIP-7702). */
const KNOWN_FOR_MS = 30_000;

export function createSignatureChecker(ctx: HasChain & HasUsdc): SignatureChecker {
  const hasCode = new LRUCache<string, boolean>({
    max: 10_000,
    ttl: KNOWN_FOR_MS,
    fetchMethod: (address) => ctx.usdc.hasCode(address),
  });
  return {
    async mayBeGood({ authorization, signature }) {
      const digest = authorizationDigest(ctx.chain.domainSeparator, authorization);
      if (signerOf(digest, signature) === authorization.from) return true;
      return (await hasCode.fetch(authorization.from)) ?? true;
    },
  };
}
