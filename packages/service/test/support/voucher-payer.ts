import { randomBytes } from 'node:crypto';
import { privateKeyToAddress } from 'viem/accounts';
import { DEPOSIT_COLLECTOR } from '../../src/chain/channels/channel-calls.ts';
import { type ChannelConfig, channelDigestsOf, depositNonce } from '../../src/chain/channels/channel-digests.ts';
import { receiveAuthorizationDigest } from '../../src/chain/keys/authorization.ts';
import { signDigest } from '../../src/chain/keys/local-signer.ts';
import { openChannel } from '../../src/payments/schemes/batch-settlement/channel-store.ts';
import type { Answer, Harness } from './harness.ts';

type Hex = `0x${string}`;
const newKey = (): Hex => `0x${randomBytes(32).toString('hex')}`;
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
// biome-ignore lint/suspicious/noExplicitAny: the content of a header of the node
const decode = (header: string | null): any => JSON.parse(Buffer.from(header ?? '', 'base64').toString());

/** Terms of a 402 answer; `accepts[1]` is the channel. */
export const requiredBy = (answer: Answer) => decode(answer.headers.get('payment-required'));

/** State of the paying channel in an answer. */
export const settledBy = (answer: Answer) => decode(answer.headers.get('payment-response'));

export interface VoucherChanges {
  readonly config?: Partial<ChannelConfig>;
  readonly channelId?: string;
  readonly signature?: string;
  /** Signs in place of the payer. */
  readonly key?: Hex;
  readonly network?: string;
  readonly extra?: object;
  readonly payload?: object;
  readonly identifier?: string;
}

/** A payer with a channel to the node, signed natively, with whatever a test wants to be wrong about a voucher. */
export function newVoucherPayer(
  h: Pick<Harness, 'ctx'>,
  { key = newKey(), ...change }: Partial<ChannelConfig> & { key?: Hex } = {},
) {
  const { chain } = h.ctx;
  const digests = channelDigestsOf(chain.chainId);
  const payer = privateKeyToAddress(key).toLowerCase();
  const config: ChannelConfig = {
    payer,
    payerAuthorizer: payer,
    receiver: chain.wallet,
    receiverAuthorizer: chain.wallet,
    token: chain.token,
    withdrawDelayS: chain.channels?.withdrawDelayS ?? 86_400,
    salt: newKey(),
    ...change,
  };
  const channelId = digests.channelIdOf(config);
  const sign = (maxMicro: bigint, by = key): Hex => signDigest(digests.voucherDigest(channelId, maxMicro), by);
  return {
    key,
    config,
    channelId,
    sign,
    /** Books a deposit as if it were deep enough in the chain. */
    async fund(balanceMicro: bigint) {
      const now = h.ctx.clock.now();
      await h.ctx.db.transaction((tx) => openChannel(tx, { id: channelId, chain, config }, now));
      // Read at a later block than any: the chain, which knows no such deposit, is not asked again.
      const set = 'update channel set balance_micro = $2, read_block = 1e15::bigint where id = $1';
      await h.ctx.db.query('', set, [channelId, balanceMicro]);
    },
    /** A deposit for the payload of a voucher, signed by the payer. */
    async deposit(
      amountMicro: bigint,
      changes: { validBefore?: bigint; validAfter?: bigint; signature?: string; salt?: Hex } = {},
    ) {
      const { validAfter = 0n, salt = newKey() } = changes;
      const validBefore = changes.validBefore ?? BigInt(Math.floor(h.ctx.clock.now().getTime() / 1000)) + 300n;
      const authorization = {
        ...{ from: config.payer, to: DEPOSIT_COLLECTOR, valueMicro: amountMicro },
        ...{ validAfterS: validAfter, validBeforeS: validBefore, nonce: depositNonce(channelId, BigInt(salt)) },
      };
      const signature =
        changes.signature ?? signDigest(receiveAuthorizationDigest(chain.domainSeparator, authorization), key);
      const erc3009Authorization = {
        validAfter: String(validAfter),
        validBefore: String(validBefore),
        salt,
        signature,
      };
      return { type: 'deposit', deposit: { amount: amountMicro.toString(), authorization: { erc3009Authorization } } };
    },
    /** The header of a voucher for a 402 answer. */
    pay(unpaid: Answer, maxMicro: bigint, changes: VoucherChanges = {}): Record<string, string> {
      const required = requiredBy(unpaid);
      const accepted = required.accepts.find(
        (each: { scheme: string; network: string; asset: string }) =>
          each.scheme === 'batch-settlement' &&
          each.network === `eip155:${chain.chainId}` &&
          each.asset === chain.token,
      );
      const { withdrawDelayS, ...shown } = { ...config, ...changes.config };
      const payload = {
        type: 'voucher',
        channelConfig: { ...shown, withdrawDelay: withdrawDelayS },
        voucher: {
          channelId: changes.channelId ?? channelId,
          maxClaimableAmount: maxMicro.toString(),
          signature: changes.signature ?? sign(maxMicro, changes.key),
        },
        ...changes.payload,
      };
      const extra = { ...accepted.extra, ...changes.extra };
      return {
        'payment-signature': encode({
          x402Version: 2,
          accepted: { ...accepted, network: changes.network ?? accepted.network, extra },
          payload,
          ...(changes.identifier === undefined
            ? {}
            : { extensions: { 'payment-identifier': { info: { id: changes.identifier } } } }),
        }),
      };
    },
  };
}

export type VoucherPayer = ReturnType<typeof newVoucherPayer>;
