import type { HasChain } from '../../chain/chain-info.ts';
import type { SignedAuthorization } from '../../chain/settlement-call.ts';
import { authorizationDigest, receiveAuthorizationDigest, signerOf } from '../../chain/signatures/authorization.ts';
import type { HasUsdc } from '../../chain/usdc-client.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import type { RefusalReason } from '../onchain/refusal-reason.ts';
import { wrongDomainOf } from './signed-domain.ts';

/** Rejects invalid signatures without a call of the token. */
export interface SignatureChecker {
  /** False: no token would accept it. True: the paying key made it, or the paying address is a contract, which judges for itself. */
  mayBeGood(signed: SignedAuthorization): Promise<boolean>;
  /**
   * True if the paying wallet signed exactly this: its key did, or its contract confirms it now (EIP-1271). Does not call the token, which
   * would refuse a spent authorization anyway.
   */
  isGood(signed: SignedAuthorization): Promise<boolean>;
  /** The cause of a refused signature. `isWrapped`: it came in a wrapper of ERC-6492. */
  whyBad(signed: SignedAuthorization, shown: { readonly isWrapped?: boolean }): Promise<RefusalReason>;
}

export interface HasSignatureChecker {
  readonly signatureChecker: SignatureChecker;
}

/** Cache time of addresses with code, which keep it, except keys that revoke their delegation. Those without may get some at any time. */
const KNOWN_FOR_MS = 30_000;
const MAX_KNOWN = 10_000;
/** Code of a key that delegates to a contract (EIP-7702). */
const DELEGATION = '0xef0100';

export function createSignatureChecker(ctx: HasChain & HasUsdc): SignatureChecker {
  const withCode = createBoundedCache<true>(MAX_KNOWN, KNOWN_FOR_MS);
  const digestOf = ({ authorization, depositCall }: SignedAuthorization) =>
    (depositCall ? receiveAuthorizationDigest : authorizationDigest)(ctx.chain.domainSeparator, authorization);
  const isOfKey = (signed: SignedAuthorization) =>
    signerOf(digestOf(signed), signed.signature) === signed.authorization.from;
  return {
    async mayBeGood(signed) {
      const { from } = signed.authorization;
      if (isOfKey(signed) || withCode.has(from)) return true;
      const hasCode = (await ctx.usdc.codeOf(from)) !== '0x';
      if (hasCode) withCode.set(from, true);
      return hasCode;
    },
    async isGood(signed) {
      if (isOfKey(signed)) return true;
      return ctx.usdc.hasContractSigned(signed.authorization.from, digestOf(signed), signed.signature);
    },
    async whyBad(signed, { isWrapped = false }) {
      const code = await ctx.usdc.codeOf(signed.authorization.from);
      if (code.startsWith(DELEGATION)) return 'invalid_exact_evm_signature_of_delegated_wallet';
      if (code !== '0x') return 'invalid_exact_evm_signature';
      if (isWrapped) return 'invalid_exact_evm_payload_undeployed_smart_wallet';
      return wrongDomainOf(ctx.chain, signed) ?? 'invalid_exact_evm_signature';
    },
  };
}
