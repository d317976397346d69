import { randomBytes } from 'node:crypto';
import type { Hex } from 'viem';
import type { ChainInfo } from '../../src/chain/chain-info.ts';
import { DEPOSIT_COLLECTOR } from '../../src/chain/channels/channel-calls.ts';
import { type ChannelConfig, channelDigestsOf, depositNonce } from '../../src/chain/channels/channel-digests.ts';
import { type Authorization, receiveAuthorizationDigest } from '../../src/chain/keys/authorization.ts';
import { signDigest } from '../../src/chain/keys/local-signer.ts';
import type { Sql } from '../../src/store/sql.ts';

interface Payer {
  readonly address: string;
  readonly key: Hex;
}

type OnChain = Pick<ChainInfo, 'chainId' | 'token' | 'wallet' | 'domainSeparator'>;

const random = (): Hex => `0x${randomBytes(32).toString('hex')}`;

/** A channel of a payer with the node, which signs its vouchers itself, with a fresh salt, changed as asked. */
export const channelOf = (chain: OnChain, payer: Payer, changes: Partial<ChannelConfig> = {}): ChannelConfig => ({
  payer: payer.address,
  payerAuthorizer: payer.address,
  receiver: chain.wallet,
  receiverAuthorizer: chain.wallet,
  token: chain.token,
  withdrawDelayS: 86_400,
  salt: random(),
  ...changes,
});

/** Records a channel in a database, as its first voucher or deposit does. */
export const insertChannel = async (sql: Sql, chainId: number, config: ChannelConfig): Promise<void> =>
  void (await sql.query(
    'test-insert-channel',
    `insert into channel (id, chain_id, payer, payer_authorizer, receiver, receiver_authorizer, token, withdraw_delay_s, salt, created_at, changed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now(), now()) on conflict do nothing`,
    [
      ...[channelDigestsOf(chainId).channelIdOf(config), chainId, config.payer, config.payerAuthorizer],
      ...[config.receiver, config.receiverAuthorizer, config.token, config.withdrawDelayS, config.salt],
    ],
  ));

export const signVoucher = (chain: OnChain, payer: Payer, config: ChannelConfig, maxMicro: bigint): Hex => {
  const { channelIdOf, voucherDigest } = channelDigestsOf(chain.chainId);
  return signDigest(voucherDigest(channelIdOf(config), maxMicro), payer.key);
};

/** A deposit that the payer authorizes for this channel, for the next hundred years, changed as asked. */
export function signDeposit(
  chain: OnChain,
  payer: Payer,
  config: ChannelConfig,
  changes: Partial<Authorization> = {},
): { salt: bigint; authorization: Authorization; signature: Hex } {
  const salt = BigInt(random());
  const authorization = {
    from: config.payer,
    to: DEPOSIT_COLLECTOR,
    valueMicro: 100_000n,
    validAfterS: 0n,
    validBeforeS: 4_900_000_000n,
    nonce: depositNonce(channelDigestsOf(chain.chainId).channelIdOf(config), salt),
    ...changes,
  };
  const signature = signDigest(receiveAuthorizationDigest(chain.domainSeparator, authorization), payer.key);
  return { salt, authorization, signature };
}
