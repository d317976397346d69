import { usdcByChain } from '@agent-network/chain/addresses';
import type { ChainInfo } from '../../chain/chain-info.ts';
import type { SignedAuthorization } from '../../chain/settlement-call.ts';
import { authorizationDigest, receiveAuthorizationDigest, signerOf } from '../../chain/signatures/authorization.ts';
import { addressWord, hashOf, typeHash, word } from '../../lib/typed-digest.ts';
import type { RefusalReason } from '../onchain/refusal-reason.ts';

const DOMAIN = typeHash('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)');

/** What wallets take for the name and version of USDC: those of Base, of Base Sepolia, and of bridged ones. */
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
export function wrongDomainOf(chain: ChainInfo, signed: SignedAuthorization): RefusalReason | null {
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
