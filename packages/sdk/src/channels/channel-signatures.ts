import { encodeAbiParameters, hashTypedData, keccak256, recoverTypedDataAddress } from 'viem/utils';

export type Hex = `0x${string}`;

/** The x402 batch-settlement contract and its collector of EIP-3009 deposits: at the same addresses on every chain. */
export const settlementContract = '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003';
const depositCollector = '0x4020806089470a89826cB9fB1f4059150b550004';

/** Parties and terms of a payment channel; their EIP-712 hash is the channel's id. */
export interface ChannelConfig {
  readonly payer: Hex;
  readonly payerAuthorizer: Hex;
  readonly receiver: Hex;
  readonly receiverAuthorizer: Hex;
  readonly token: Hex;
  /** Seconds between the request of a withdrawal without the receiver and the withdrawal. */
  readonly withdrawDelay: number;
  readonly salt: Hex;
}

/** A deposit that was signed. */
export interface SignedDeposit {
  readonly amountMicro: bigint;
  /** Makes the authorization's nonce, together with the channel's id. */
  readonly salt: Hex;
  readonly validBeforeS: number;
  readonly signature: Hex;
}

const domainOf = (chainId: number) =>
  ({ name: 'x402 Batch Settlement', version: '1', chainId, verifyingContract: settlementContract }) as const;

/** The fields of a channel's configuration, as signed and as in calls of the contract. */
export const configType = [
  { name: 'payer', type: 'address' },
  { name: 'payerAuthorizer', type: 'address' },
  { name: 'receiver', type: 'address' },
  { name: 'receiverAuthorizer', type: 'address' },
  { name: 'token', type: 'address' },
  { name: 'withdrawDelay', type: 'uint40' },
  { name: 'salt', type: 'bytes32' },
] as const;

const voucherType = [
  { name: 'channelId', type: 'bytes32' },
  { name: 'maxClaimableAmount', type: 'uint128' },
] as const;

const receiveType = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;

export const channelIdOf = (config: ChannelConfig, chainId: number): Hex =>
  hashTypedData({
    domain: domainOf(chainId),
    types: { ChannelConfig: configType },
    primaryType: 'ChannelConfig',
    message: { ...config },
  });

/** The voucher to sign: the receiver may claim this much of the channel in all. */
export const voucherToSign = (channelId: Hex, chainId: number, maxMicro: bigint) =>
  ({
    domain: domainOf(chainId),
    types: { Voucher: voucherType },
    primaryType: 'Voucher',
    message: { channelId, maxClaimableAmount: maxMicro },
  }) as const;

/** True when this address signed the voucher; false if the signature can't be parsed. */
export async function isVoucherOf(
  signer: string,
  voucher: ReturnType<typeof voucherToSign>,
  signature: string,
): Promise<boolean> {
  if (!/^0x[0-9a-f]{130}$/i.test(signature)) return false;
  const recovered = await recoverTypedDataAddress({ ...voucher, signature: signature as Hex }).catch(() => null);
  return recovered?.toLowerCase() === signer.toLowerCase();
}

/** The authorization to sign with which the collector takes a deposit into this channel, and into no other. */
export const depositToSign = (
  channelId: Hex,
  config: ChannelConfig,
  token: { readonly name: string; readonly version: string; readonly chainId: number },
  deposit: Omit<SignedDeposit, 'signature'>,
) =>
  ({
    domain: { ...token, verifyingContract: config.token },
    types: { ReceiveWithAuthorization: receiveType },
    primaryType: 'ReceiveWithAuthorization',
    message: {
      from: config.payer,
      to: depositCollector,
      value: deposit.amountMicro,
      validAfter: 0n,
      validBefore: BigInt(deposit.validBeforeS),
      nonce: keccak256(
        encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [channelId, BigInt(deposit.salt)]),
      ),
    },
  }) as const;

export function randomBytes32(): Hex {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
