import { BATCH_SETTLEMENT_ADDRESS } from '@agent-network/chain/addresses';
import { keccak256 } from '../../lib/keccak.ts';
import { addressWord, hashOf, typedDigest, typeHash, word } from '../../lib/typed-digest.ts';

type Hex = `0x${string}`;

/** The immutable configuration of a payment channel: its digest is the channel's id. Addresses and salt in lower case. */
export interface ChannelConfig {
  readonly payer: string;
  /** The key that signs valid vouchers. */
  readonly payerAuthorizer: string;
  readonly receiver: string;
  /** The key that signs claims and refunds. */
  readonly receiverAuthorizer: string;
  readonly token: string;
  readonly withdrawDelayS: number;
  readonly salt: string;
}

/** A row of a claim: of a voucher up to `maxMicro`, `totalMicro` is claimed since the channel began. */
export interface ClaimedTotal {
  readonly channelId: string;
  readonly maxMicro: bigint;
  readonly totalMicro: bigint;
}

const DOMAIN = typeHash('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)');
const NAME = keccak256(Buffer.from('x402 Batch Settlement'));
const VERSION = keccak256(Buffer.from('1'));
const CONFIG = typeHash(
  'ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)',
);
const VOUCHER = typeHash('Voucher(bytes32 channelId,uint128 maxClaimableAmount)');
const REFUND = typeHash('Refund(bytes32 channelId,uint256 nonce,uint128 amount)');
const ENTRY_TYPE = 'ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)';
const ENTRY = typeHash(ENTRY_TYPE);
const BATCH = typeHash(`ClaimBatch(ClaimEntry[] claims)${ENTRY_TYPE}`);

/** Hashes of all signed messages for channels on one chain. They are on the path of every call, at some microseconds each. */
export interface ChannelDigests {
  /** Lower case. */
  channelIdOf(config: ChannelConfig): Hex;
  voucherDigest(channelId: string, maxMicro: bigint): Hex;
  refundDigest(channelId: string, nonce: bigint, amountMicro: bigint): Hex;
  claimBatchDigest(rows: readonly ClaimedTotal[]): Hex;
}

/** The digests of EIP-712 in the domain of the settlement contract, which has the same address on every chain. */
export function channelDigestsOf(chainId: number): ChannelDigests {
  const domain = hashOf(DOMAIN, NAME, VERSION, word(chainId), addressWord(BATCH_SETTLEMENT_ADDRESS));
  const digest = (...words: readonly string[]) => typedDigest(domain, hashOf(...words));
  return {
    channelIdOf: (config) =>
      digest(
        CONFIG,
        addressWord(config.payer),
        addressWord(config.payerAuthorizer),
        addressWord(config.receiver),
        addressWord(config.receiverAuthorizer),
        addressWord(config.token),
        word(config.withdrawDelayS),
        config.salt,
      ),
    voucherDigest: (channelId, maxMicro) => digest(VOUCHER, channelId, word(maxMicro)),
    refundDigest: (channelId, nonce, amountMicro) => digest(REFUND, channelId, word(nonce), word(amountMicro)),
    claimBatchDigest: (rows) =>
      digest(
        BATCH,
        hashOf(...rows.map((row) => hashOf(ENTRY, row.channelId, word(row.maxMicro), word(row.totalMicro)))),
      ),
  };
}

/** Nonce of a deposit's authorization: it binds the channel, so the money can go into no other. The salt is a number below 2^256. */
export const depositNonce = (channelId: string, salt: bigint): Hex => hashOf(channelId, word(salt));
