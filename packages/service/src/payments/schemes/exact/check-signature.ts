import { usdcByChain } from '@agent-network/chain/addresses';
import type { ChainAccess } from '../../../chain/chain-access.ts';
import type { ChainInfo } from '../../../chain/chain-info.ts';
import { authorizationDigest, receiveAuthorizationDigest, signerOf } from '../../../chain/keys/authorization.ts';
import type { SignedAuthorization } from '../../../chain/settlement-call.ts';
import { createBoundedCache } from '../../../lib/bounded-cache.ts';
import { addressWord, hashOf, typeHash, word } from '../../../lib/typed-digest.ts';
import type { RefusalReason } from '../../chain-outbox/refusal-reason.ts';

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

/** Cache time of addresses with code, which keep it, except keys that revoke their delegation. Those without may get some at any time. */
const KNOWN_FOR_MS = 30_000;
const MAX_KNOWN = 10_000;
/** Code of a key that delegates to a contract (EIP-7702). */
const DELEGATION = '0xef0100';

export function createSignatureChecker(ctx: ChainAccess): SignatureChecker {
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

const DOMAIN = typeHash('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)');

/** Names and versions of USDC that wallets wrongly sign for: those of Base, of Base Sepolia, and of bridged USDC. */
const NAMES = ['USD Coin', 'USDC', 'USDC.e', 'Bridged USDC', 'USD Coin (PoS)'];
const VERSIONS = ['1', '2'];

interface Domain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
}

const separatorOf = ({ name, version, chainId }: Domain, token: string) =>
  hashOf(DOMAIN, typeHash(name), typeHash(version), word(chainId), addressWord(token));

/**
 * The domain for which the paying key signed instead of the token's, as a reason; null: none of those that wallets take for it. Some dozen
 * recoveries, a millisecond: asked for a bad signature alone.
 */
function wrongDomainOf(chain: ChainInfo, signed: SignedAuthorization): RefusalReason | null {
  const { authorization, signature, depositCall } = signed;
  const digestOf = depositCall ? receiveAuthorizationDigest : authorizationDigest;
  const isFor = (domain: Partial<Domain>, token = chain.token) => {
    const { tokenName: name, tokenVersion: version, chainId } = chain;
    const separator = separatorOf({ name, version, chainId, ...domain }, token);
    return signerOf(digestOf(separator, authorization), signature) === authorization.from;
  };
  if (VERSIONS.some((version) => isFor({ version }))) return 'invalid_exact_evm_token_version_mismatch';
  if (NAMES.some((name) => VERSIONS.some((version) => isFor({ name, version }))))
    return 'invalid_exact_evm_token_name_mismatch';
  const isForChain = ([id, token]: [string, string]) =>
    [chain.token, token.toLowerCase()].some((at) => NAMES.some((name) => isFor({ name, chainId: Number(id) }, at)));
  return Object.entries(usdcByChain).some(isForChain) || isFor({ chainId: 1 }) ? 'invalid_network' : null;
}
