import { LRUCache } from 'lru-cache';
import type { HasChain } from '../../chain/chain-info.ts';
import type { SignedAuthorization } from '../../chain/settlement-call.ts';
import { authorizationDigest, receiveAuthorizationDigest, signerOf } from '../../chain/signatures/authorization.ts';
import type { HasUsdc } from '../../chain/usdc-client.ts';

/** Rejects invalid signatures without a call of the token. */
export interface SignatureChecker {
  /** False: no token would accept it. True: the paying key made it, or the paying address is a contract, which judges for itself. */
  mayBeGood(signed: SignedAuthorization): Promise<boolean>;
  /**
   * True if the paying wallet signed exactly this: its key did, or its contract confirms it now (EIP-1271). Does not call the token, which
   * would refuse a spent authorization anyway.
   */
  isGood(signed: SignedAuthorization): Promise<boolean>;
}

export interface HasSignatureChecker {
  readonly signatureChecker: SignatureChecker;
}

/** Cache time. An address without code may get some; one with code keeps it, except keys that revoke their delegation (EIP-7702). */
const KNOWN_FOR_MS = 30_000;

export function createSignatureChecker(ctx: HasChain & HasUsdc): SignatureChecker {
  const hasCode = new LRUCache<string, boolean>({
    // As lib/bounded-cache.ts: it takes memory as it fills.
    ...{ maxSize: 10_000, sizeCalculation: () => 1 },
    ttl: KNOWN_FOR_MS,
    fetchMethod: (address) => ctx.usdc.hasCode(address),
  });
  const digestOf = ({ authorization, depositCall }: SignedAuthorization) =>
    (depositCall ? receiveAuthorizationDigest : authorizationDigest)(ctx.chain.domainSeparator, authorization);
  const isOfKey = (signed: SignedAuthorization) =>
    signerOf(digestOf(signed), signed.signature) === signed.authorization.from;
  return {
    async mayBeGood(signed) {
      return isOfKey(signed) || ((await hasCode.fetch(signed.authorization.from)) ?? true);
    },
    async isGood(signed) {
      if (isOfKey(signed)) return true;
      return ctx.usdc.hasContractSigned(signed.authorization.from, digestOf(signed), signed.signature);
    },
  };
}
