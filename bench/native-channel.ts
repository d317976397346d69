import { randomBytes } from 'node:crypto';
import { domainSeparator } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { DEPOSIT_COLLECTOR } from '../packages/service/src/chain/channels/channel-calls.ts';
import { channelDigestsOf, depositNonce } from '../packages/service/src/chain/channels/channel-digests.ts';
import { receiveAuthorizationDigest } from '../packages/service/src/chain/keys/authorization.ts';
import { signDigest } from '../packages/service/src/chain/keys/local-signer.ts';

type Hex = `0x${string}`;

/** Terms of a 402 for the scheme `batch-settlement`. */
export interface ChannelOffer {
  readonly scheme: string;
  readonly network: string;
  readonly amount: string;
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly extra: {
    readonly name: string;
    readonly version: string;
    readonly receiverAuthorizer: Hex;
    readonly withdrawDelay: number;
  };
}

/** A channel of one payer, which signs as the service verifies: natively, in a fraction of the time of the stock client. */
export interface NativeChannel {
  readonly id: Hex;
  /** The payload of a voucher for this sum, with a deposit where one is given. */
  payload(maxMicro: bigint, depositMicro?: bigint): object;
}

const LASTS_S = 300;

export function openNativeChannel(key: Hex, offer: ChannelOffer): NativeChannel {
  const { name, version, receiverAuthorizer, withdrawDelay } = offer.extra;
  const chainId = Number(offer.network.split(':')[1]);
  const digests = channelDigestsOf(chainId);
  const payer = privateKeyToAddress(key).toLowerCase();
  const shared = {
    payer,
    payerAuthorizer: payer,
    receiver: offer.payTo.toLowerCase(),
    receiverAuthorizer: receiverAuthorizer.toLowerCase(),
    token: offer.asset.toLowerCase(),
    salt: newSalt(),
  };
  const id = digests.channelIdOf({ ...shared, withdrawDelayS: withdrawDelay });
  const token = domainSeparator({ domain: { name, version, chainId, verifyingContract: offer.asset } });
  const depositOf = (amountMicro: bigint) => {
    const salt = newSalt();
    const validBeforeS = BigInt(Math.floor(Date.now() / 1000) + LASTS_S);
    const nonce = depositNonce(id, BigInt(salt));
    const digest = receiveAuthorizationDigest(token, {
      ...{ from: payer, to: DEPOSIT_COLLECTOR, valueMicro: amountMicro, validAfterS: 0n, validBeforeS, nonce },
    });
    const signature = signDigest(digest, key);
    const erc3009Authorization = { validAfter: '0', validBefore: String(validBeforeS), salt, signature };
    return { amount: String(amountMicro), authorization: { erc3009Authorization } };
  };
  return {
    id,
    payload: (maxMicro, depositMicro) => ({
      type: depositMicro === undefined ? 'voucher' : 'deposit',
      channelConfig: { ...shared, withdrawDelay },
      voucher: {
        channelId: id,
        maxClaimableAmount: String(maxMicro),
        signature: signDigest(digests.voucherDigest(id, maxMicro), key),
      },
      ...(depositMicro === undefined ? {} : { deposit: depositOf(depositMicro) }),
    }),
  };
}

const newSalt = (): Hex => `0x${randomBytes(32).toString('hex')}`;
