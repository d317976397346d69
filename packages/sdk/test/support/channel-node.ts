import { encodePaymentRequiredHeader } from '@x402/core/http';
import { encodeAbiParameters, hashTypedData, keccak256, recoverTypedDataAddress, type TypedDataDomain } from 'viem';
import { failure, type Reply, type Seen, success } from './fake-node.ts';

type Hex = `0x${string}`;

const contract = '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003';
const collector = '0x4020806089470a89826cB9fB1f4059150b550004';
const chainId = 84532;
export const network = `eip155:${chainId}`;
export const usdc = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
export const prefix = 'invalid_batch_settlement_evm_';
const domain: TypedDataDomain = { name: 'x402 Batch Settlement', version: '1', chainId, verifyingContract: contract };

const configType = [
  ['payer', 'address'],
  ['payerAuthorizer', 'address'],
  ['receiver', 'address'],
  ['receiverAuthorizer', 'address'],
  ['token', 'address'],
  ['withdrawDelay', 'uint40'],
  ['salt', 'bytes32'],
].map(([name = '', type = '']) => ({ name, type }));

/** The books of one channel as a receiver has them. */
export interface ReceiverBooks {
  balance: bigint;
  charged: bigint;
  reserved: bigint;
  signed: bigint;
  signature: string;
  /** Vouchers up to this sum stand on the chain, for everybody to read. */
  published: bigint;
}

// biome-ignore lint/suspicious/noExplicitAny: the payload of a payment as it came over the wire
type Payload = any;

export interface Paid {
  readonly channelId: Hex;
  readonly payload: Payload;
  readonly books: ReceiverBooks;
}

/** Wrong behaviour of a receiver. */
export interface Lies {
  /** Answer to a paid call; default: it is done and costs its price. */
  readonly outcome?: (paid: Paid, count: number) => { readonly cost?: bigint; readonly reply?: Reply | 'hang up' };
  /** Answers before the payment is judged; `null`: it is judged. */
  readonly before?: (paid: Paid, count: number, node: ChannelNode) => Reply | 'hang up' | null;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly withExact?: boolean;
}

export interface ChannelNode {
  readonly channels: Map<string, ReceiverBooks>;
  /** Every payment that was shown, in order. */
  readonly payments: Paid[];
  price: bigint;
  payTo: string;
  answer(seen: Seen): Promise<Reply | 'hang up'>;
  refuse(reason: string, books?: ReceiverBooks | null, changes?: Partial<ReceiverBooks>): Reply;
  accept(paid: Paid, changes?: { readonly amount?: bigint; readonly extra?: object }): Record<string, string>;
}

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

const receiveType = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;

const voucherType = [
  { name: 'channelId', type: 'bytes32' },
  { name: 'maxClaimableAmount', type: 'uint128' },
] as const;

async function isDepositSigned({ channelConfig, deposit }: Payload, channelId: Hex): Promise<boolean> {
  const { salt, signature, validBefore } = deposit.authorization.erc3009Authorization;
  const nonce = keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [channelId, BigInt(salt)]));
  const signer = await recoverTypedDataAddress({
    domain: { name: 'USDC', version: '2', chainId, verifyingContract: usdc },
    types: { ReceiveWithAuthorization: receiveType },
    primaryType: 'ReceiveWithAuthorization',
    message: {
      from: channelConfig.payer,
      to: collector,
      value: BigInt(deposit.amount),
      validAfter: 0n,
      validBefore: BigInt(validBefore),
      nonce,
    },
    signature,
  });
  return signer === channelConfig.payer;
}

/** A receiver of channel payments that keeps to the rules, but for the lies that a test has it tell. */
export function channelNode(lies: Lies = {}): ChannelNode {
  const taken = new Set<string>();
  /** The answers to refunds that were made, by their bytes. */
  const refunded = new Map<string, Reply>();
  let memos = 0;
  const node: ChannelNode = {
    channels: new Map(),
    payments: [],
    price: 1_000n,
    payTo: '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063',
    answer,
    refuse,
    accept,
  };
  const state = (channelId: string, books: ReceiverBooks) => ({
    channelState: {
      channelId,
      balance: String(books.balance),
      totalClaimed: '0',
      withdrawRequestedAt: 0,
      refundNonce: '0',
      chargedCumulativeAmount: String(books.charged + books.reserved),
    },
  });
  const offer = () => ({
    scheme: 'batch-settlement',
    network: network as `${string}:${string}`,
    amount: String(node.price),
    asset: usdc,
    payTo: node.payTo,
    maxTimeoutSeconds: 120,
    extra: {
      name: 'USDC',
      version: '2',
      receiverAuthorizer: node.payTo,
      withdrawDelay: 86_400,
      minDeposit: '10000',
      memo: String(++memos),
      ...lies.extra,
    } as Record<string, unknown>,
  });

  function refuse(reason: string, books: ReceiverBooks | null = null, changes: Partial<ReceiverBooks> = {}): Reply {
    const batch = offer();
    const told = { ...books, ...changes } as ReceiverBooks;
    if (books)
      Object.assign(batch.extra, state('', told), {
        voucherState: { signedMaxClaimable: String(told.signed), signature: told.signature },
      });
    const exact = { ...offer(), scheme: 'exact', extra: { name: 'USDC', version: '2' } };
    const accepts = lies.withExact ? [exact, batch] : [batch];
    const resource = { url: 'http://node.test/x' };
    const header = encodePaymentRequiredHeader({ x402Version: 2, error: reason, resource, accepts });
    return failure(402, 'PAYMENT_REQUIRED', {}, { 'payment-required': header });
  }

  function accept({ channelId, books }: Paid, { amount = 0n, extra = {} } = {}): Record<string, string> {
    const told = { ...state(channelId, books), ...extra };
    return {
      'payment-response': base64({
        success: true,
        network,
        transaction: amount > 0n ? `0x${'7a'.repeat(32)}` : '',
        amount: amount > 0n ? String(amount) : '',
        extra: told,
      }),
    };
  }

  async function answer(seen: Seen): Promise<Reply | 'hang up'> {
    const header = seen.headers['payment-signature'];
    if (typeof header !== 'string') return refuse('payment needed');
    const { payload } = JSON.parse(Buffer.from(header, 'base64').toString());
    const earlier = refunded.get(header);
    if (earlier) return earlier;
    if (payload.authorization) return success({ paidExactly: true });
    const config = payload.channelConfig;
    const types = { ChannelConfig: configType };
    const channelId = hashTypedData({ domain, types, primaryType: 'ChannelConfig', message: config });
    const known = node.channels.get(channelId);
    const books = known ?? { balance: 0n, charged: 0n, reserved: 0n, signed: 0n, signature: '', published: 0n };
    const paid = { channelId, payload, books };
    node.payments.push(paid);
    const early = lies.before?.(paid, node.payments.length, node);
    const reply = early ?? (await judge(paid));
    if (payload.type === 'refund' && reply !== 'hang up' && reply.status === 200) refunded.set(header, reply);
    return reply;
  }

  async function judge(paid: Paid): Promise<Reply | 'hang up'> {
    const { channelId, payload, books } = paid;
    const max = BigInt(payload.voucher.maxClaimableAmount);
    const signer = await recoverTypedDataAddress({
      domain,
      types: { Voucher: voucherType },
      primaryType: 'Voucher',
      message: { channelId, maxClaimableAmount: max },
      signature: payload.voucher.signature,
    });
    if (signer !== payload.channelConfig.payerAuthorizer) return refuse(`${prefix}voucher_signature`);
    const price = payload.type === 'refund' ? 0n : node.price;
    if (max !== books.charged + books.reserved + price) {
      const isTold = max > books.published && books.signed > 0n;
      return refuse(`${prefix}cumulative_amount_mismatch`, isTold ? books : null);
    }
    if (payload.type === 'refund') return refund(paid);
    if (payload.type === 'deposit') await takeDeposit(paid);
    if (max > books.balance)
      return refuse(`${prefix}${node.channels.has(channelId) ? 'cumulative_exceeds_balance' : 'channel_not_found'}`);
    books.reserved += price;
    if (max > books.signed) Object.assign(books, { signed: max, signature: payload.voucher.signature });
    return run(paid, price);
  }

  async function takeDeposit({ payload, channelId, books }: Paid): Promise<void> {
    const { signature } = payload.deposit.authorization.erc3009Authorization;
    if (!(await isDepositSigned(payload, channelId))) throw new Error('the deposit is signed by somebody else');
    if (taken.has(signature)) return;
    taken.add(signature);
    books.balance += BigInt(payload.deposit.amount);
    node.channels.set(channelId, books);
  }

  function run(paid: Paid, price: bigint): Reply | 'hang up' {
    const { books, payload } = paid;
    const { cost = price, reply = success({ paid: true }) } = lies.outcome?.(paid, node.payments.length) ?? {};
    books.reserved -= price;
    books.charged += cost;
    if (reply === 'hang up') return reply;
    const headers = accept(paid, {
      amount: payload.type === 'deposit' ? BigInt(payload.deposit.amount) : 0n,
      extra: { chargedAmount: String(cost) },
    });
    return { ...reply, headers: { ...headers, ...reply.headers } };
  }

  function refund(paid: Paid): Reply {
    const { books } = paid;
    const amount = books.balance - books.charged;
    if (amount <= 0n) return refuse(`${prefix}refund_no_balance`);
    books.balance -= amount;
    return { ...success({}), headers: accept(paid, { amount }) };
  }
  return node;
}
