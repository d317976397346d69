import { type Address, encodeAbiParameters, type Hex, hashTypedData, keccak256, type PrivateKeyAccount } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { BATCH_SETTLEMENT_ADDRESS, DEPOSIT_COLLECTOR_ADDRESS, LOCAL_CHAIN_ID, usdcByChain } from '../src/addresses.ts';
import { batchSettlementAbi } from '../src/batch-settlement-abi.ts';
import { domain as tokenDomain, types as tokenTypes } from './authorization.ts';

export const settlement = { address: BATCH_SETTLEMENT_ADDRESS, abi: batchSettlementAbi } as const;

export type ChannelConfig = {
  payer: Address;
  payerAuthorizer: Address;
  receiver: Address;
  receiverAuthorizer: Address;
  token: Address;
  withdrawDelay: number;
  salt: Hex;
};

const types = {
  ChannelConfig: [
    { name: 'payer', type: 'address' },
    { name: 'payerAuthorizer', type: 'address' },
    { name: 'receiver', type: 'address' },
    { name: 'receiverAuthorizer', type: 'address' },
    { name: 'token', type: 'address' },
    { name: 'withdrawDelay', type: 'uint40' },
    { name: 'salt', type: 'bytes32' },
  ],
  Voucher: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'maxClaimableAmount', type: 'uint128' },
  ],
  Refund: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'nonce', type: 'uint256' },
    { name: 'amount', type: 'uint128' },
  ],
  ClaimBatch: [{ name: 'claims', type: 'ClaimEntry[]' }],
  ClaimEntry: [
    { name: 'channelId', type: 'bytes32' },
    { name: 'maxClaimableAmount', type: 'uint128' },
    { name: 'totalClaimed', type: 'uint128' },
  ],
} as const;

const domain = {
  name: 'x402 Batch Settlement',
  version: '1',
  chainId: LOCAL_CHAIN_ID,
  verifyingContract: BATCH_SETTLEMENT_ADDRESS,
} as const;

export const channelIdOf = (message: ChannelConfig): Hex =>
  hashTypedData({ domain, types, primaryType: 'ChannelConfig', message });

/** A channel between two keys, which sign for themselves, with a fresh salt, changed as asked. */
export const newChannel = (payer: Address, receiver: Address, change: Partial<ChannelConfig> = {}): ChannelConfig => ({
  payer,
  payerAuthorizer: payer,
  receiver,
  receiverAuthorizer: receiver,
  token: usdcByChain[LOCAL_CHAIN_ID],
  withdrawDelay: 900,
  salt: generatePrivateKey(),
  ...change,
});

/** Arguments of `deposit`: the payer's authorization, bound to the channel by its nonce. */
export async function signDeposit(payer: PrivateKeyAccount, config: ChannelConfig, amount: bigint) {
  const salt = BigInt(generatePrivateKey());
  const validBefore = 4_000_000_000n;
  const nonce = keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [channelIdOf(config), salt]));
  const signature = await payer.signTypedData({
    domain: tokenDomain,
    types: tokenTypes,
    primaryType: 'ReceiveWithAuthorization',
    message: { from: config.payer, to: DEPOSIT_COLLECTOR_ADDRESS, value: amount, validAfter: 0n, validBefore, nonce },
  });
  const data = encodeAbiParameters(
    [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'bytes' }],
    [0n, validBefore, salt, signature],
  );
  return [config, amount, DEPOSIT_COLLECTOR_ADDRESS, data] as const;
}

/** A row of a claim: a voucher up to `max`, of which `total` is claimed. */
export async function signClaim(signer: PrivateKeyAccount, channel: ChannelConfig, max: bigint, total = max) {
  const message = { channelId: channelIdOf(channel), maxClaimableAmount: max };
  const signature = await signer.signTypedData({ domain, types, primaryType: 'Voucher', message });
  return { voucher: { channel, maxClaimableAmount: max }, signature, totalClaimed: total };
}

type Claim = Awaited<ReturnType<typeof signClaim>>;

export function signBatch(authorizer: PrivateKeyAccount, rows: readonly Claim[]): Promise<Hex> {
  const claims = rows.map(({ voucher: { channel, maxClaimableAmount }, totalClaimed }) => ({
    channelId: channelIdOf(channel),
    maxClaimableAmount,
    totalClaimed,
  }));
  return authorizer.signTypedData({ domain, types, primaryType: 'ClaimBatch', message: { claims } });
}

export const signRefund = (authorizer: PrivateKeyAccount, config: ChannelConfig, nonce: bigint, amount: bigint) => {
  const message = { channelId: channelIdOf(config), nonce, amount };
  return authorizer.signTypedData({ domain, types, primaryType: 'Refund', message });
};
