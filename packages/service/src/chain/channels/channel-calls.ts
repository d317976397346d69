import { BATCH_SETTLEMENT_ADDRESS, DEPOSIT_COLLECTOR_ADDRESS } from '@agent-network/chain/addresses';
import { batchSettlementAbi } from '@agent-network/chain/batch-settlement-abi';
import { encodeAbiParameters, encodeFunctionData, type Hex } from 'viem';
import type { ChannelConfig } from './channel-digests.ts';

/** The settlement contract and the collector of deposits, lower case. */
export const SETTLEMENT_CONTRACT = BATCH_SETTLEMENT_ADDRESS.toLowerCase() as Hex;
export const DEPOSIT_COLLECTOR = DEPOSIT_COLLECTOR_ADDRESS.toLowerCase() as Hex;

/** A voucher, of which `totalMicro` is claimed since the channel began. */
export interface VoucherClaim {
  readonly config: ChannelConfig;
  readonly maxMicro: bigint;
  readonly signature: string;
  readonly totalMicro: bigint;
}

/** The payer's authorization of a deposit, with its signature. */
interface SignedDeposit {
  readonly authorization: {
    readonly valueMicro: bigint;
    readonly validAfterS: bigint;
    readonly validBeforeS: bigint;
  };
  readonly signature: string;
}

const abi = batchSettlementAbi;
const COLLECTOR_DATA = [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'bytes' }] as const;

/** Calldata for `SETTLEMENT_CONTRACT` that deposits the amount which the payer authorized for this channel. */
export function depositCall(config: ChannelConfig, salt: bigint, { authorization, signature }: SignedDeposit): Hex {
  const { validAfterS, validBeforeS, valueMicro } = authorization;
  const data = encodeAbiParameters(COLLECTOR_DATA, [validAfterS, validBeforeS, salt, signature as Hex]);
  const args = [onChain(config), valueMicro, DEPOSIT_COLLECTOR, data] as const;
  return encodeFunctionData({ abi, functionName: 'deposit', args });
}

/** Calldata that books claims, signed by the channels' receiver authorizer (`claimBatchDigest`). One bad row reverts all. */
export const claimCall = (rows: readonly VoucherClaim[], signature: string): Hex =>
  encodeFunctionData({ abi, functionName: 'claimWithSignature', args: [rows.map(claimOf), signature as Hex] });

/** Calldata that pays a receiver its claimed amounts. */
export const sweepCall = (receiver: string, token: string): Hex =>
  encodeFunctionData({ abi, functionName: 'settle', args: [receiver as Hex, token as Hex] });

/** Calldata that refunds a payer at most this amount of the unclaimed rest, signed by the receiver authorizer (`refundDigest`). */
export function refundCall(config: ChannelConfig, amountMicro: bigint, nonce: bigint, signature: string): Hex {
  const args = [onChain(config), amountMicro, nonce, signature as Hex] as const;
  return encodeFunctionData({ abi, functionName: 'refundWithSignature', args });
}

/** Calldata that makes several of these calls in one; one that reverts undoes all. */
export const allOf = (calls: readonly Hex[]): Hex =>
  encodeFunctionData({ abi, functionName: 'multicall', args: [calls] });

const claimOf = ({ config, maxMicro, signature, totalMicro }: VoucherClaim) => ({
  voucher: { channel: onChain(config), maxClaimableAmount: maxMicro },
  signature: signature as Hex,
  totalClaimed: totalMicro,
});

const onChain = (config: ChannelConfig) => ({
  payer: config.payer as Hex,
  payerAuthorizer: config.payerAuthorizer as Hex,
  receiver: config.receiver as Hex,
  receiverAuthorizer: config.receiverAuthorizer as Hex,
  token: config.token as Hex,
  withdrawDelay: config.withdrawDelayS,
  salt: config.salt as Hex,
});
