import { invocationReceiptDomain, NO_HASH, receiptTypesOf } from '@agent-network/contracts/payments/receipt-types';
import type { InvocationReceipt, SignedReceipt } from '@agent-network/contracts/payments/receipts';
import type { KnownCaller } from '../../accounts/caller.ts';
import { readOwner } from '../../agents/read-owner.ts';
import type { ChainInfo, NodeIdentity } from '../../chain/chain-info.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { invocationReceiptDigest } from '../../chain/keys/receipt-digests.ts';
import { AppError } from '../../lib/app-error.ts';
import { invariant } from '../../lib/invariant.ts';
import { assetOf, plainId } from '../../payments/ledger/asset-account.ts';
import { payingWalletOf } from '../../payments/ledger/treasury.ts';
import { payingChannel } from '../../payments/schemes/batch-settlement/channel.ts';
import type { ChannelServices } from '../../payments/schemes/batch-settlement/channel-services.ts';
import type { Store } from '../../store/database.ts';
import { contentHashes, hashOfJson, hexOf, readContentHashes } from '../content-hashes.ts';
import { requireOwn } from '../read-invocation.ts';
import { findContent, type InvocationContent, type InvocationState } from '../record-store.ts';
import { findReceipt, findStoredHashes, insertReceipt } from './receipt-store.ts';

type ReceiptContext = Store & NodeIdentity & Pick<NodeKeys, 'receiptSigner'> & ChannelServices;

/**
 * The receipt of an ended request of the caller. It is signed once and stored, so it never changes. A process that dies before the insert
 * has returned nothing.
 */
export async function readReceipt(ctx: ReceiptContext, caller: KnownCaller, requestId: string): Promise<SignedReceipt> {
  const invocation = requireOwn(await findContent(ctx.db, requestId), caller);
  const known = await findReceipt(ctx.db, requestId);
  if (known) return known;
  const receipt = await sign(ctx, await toReceipted(ctx, invocation));
  const isFirst = await insertReceipt(ctx.db, requestId, receipt, ctx.clock.now());
  return isFirst ? receipt : ((await findReceipt(ctx.db, requestId)) ?? receipt);
}

async function toReceipted(ctx: Store & ChannelServices, invocation: InvocationContent): Promise<Receipted> {
  const { status, completedAt } = invocation;
  if (status === 'pending' || status === 'processing' || status === 'input_required' || completedAt === null)
    throw new AppError('CONFLICT', 'The request is still running. Its receipt is available once it ends.');
  const [owner, hashes, paidBy] = await Promise.all([
    readOwner(ctx, invocation.agentId),
    hashesOf(ctx, invocation),
    paidByOf(ctx, invocation),
  ]);
  return { invocation, status, completedAt, owner, hashes, paidBy };
}

async function paidByOf(ctx: ChannelServices, invocation: InvocationContent): Promise<PaidBy> {
  const channelId = payingChannel(invocation);
  if (!channelId) return { payer: payingWalletOf(invocation) ?? plainId(invocation.payerLedgerId ?? ''), channel: '' };
  const channel = await ctx.channels.read(channelId);
  invariant(channel !== null, 'the channel that paid for a request is known');
  return { payer: channel.payer, channel: channelId };
}

async function hashesOf(ctx: Store, invocation: InvocationContent): Promise<Receipted['hashes']> {
  const stored = await findStoredHashes(ctx.db, invocation.id);
  const task = stored.task ?? hashOfJson(invocation.task);
  if (stored.contents) return { task, contents: stored.contents };
  if (invocation.contentRemovedAt !== null)
    throw new AppError('GONE', 'Input and result of the request were removed before their hashes were kept.');
  const { input, context, result, status } = invocation;
  const contents = contentHashes({
    ...{ context, input: input.value },
    result: result?.value ?? null,
    isCompleted: status === 'completed',
  });
  return { task, contents };
}

async function sign(ctx: ReceiptContext, receipted: Receipted): Promise<SignedReceipt> {
  const message = receiptOf(ctx, receipted, ctx.clock.now());
  const { chainId } = ctx.chain;
  const version = message.usageHash === undefined ? '1' : '2';
  return {
    signer: ctx.receiptSigner.address,
    signature: await ctx.receiptSigner.signHash(invocationReceiptDigest(chainId, message, version)),
    domain: invocationReceiptDomain(chainId, version),
    types: { InvocationReceipt: [...receiptTypesOf[version].InvocationReceipt] },
    primaryType: 'InvocationReceipt',
    message,
  };
}

const seconds = (date: Date) => Math.floor(date.getTime() / 1000);

/** An ended request, with the fields of a receipt that its record lacks. */
interface Receipted {
  readonly invocation: InvocationState;
  readonly completedAt: Date;
  readonly status: InvocationReceipt['status'];
  /** Owner of the agent. */
  readonly owner: string;
  /** Hashes of the task, and of input, context and result. */
  readonly hashes: { readonly task: Buffer; readonly contents: Buffer };
  readonly paidBy: PaidBy;
}

/** The payer: a wallet, by a transaction or through a channel, or a treasury; empty where there is none. */
interface PaidBy {
  readonly payer: string;
  readonly channel: string;
}

/** The token that paid: of the default network, unless the paying account names another. */
const tokenOf = ({ token }: ChainInfo, payerLedgerId: string | null): string =>
  (payerLedgerId === null ? null : assetOf(payerLedgerId))?.split(':').at(-1) ?? token;

/** The statement about a request that the node signs. */
function receiptOf(
  { baseUrl, chain }: NodeIdentity,
  { invocation, completedAt, status, owner, hashes, paidBy }: Receipted,
  now: Date,
): InvocationReceipt {
  const { priceMicro, costMicro, refundMicro, usage } = invocation;
  const { filesHash, ...contents } = readContentHashes(hashes.contents);
  return {
    requestId: invocation.id,
    node: baseUrl,
    agentId: invocation.agentId,
    owner,
    payer: paidBy.payer,
    paymentMethod: invocation.paymentMethod,
    asset: tokenOf(chain, invocation.payerLedgerId),
    price: String(priceMicro),
    cost: String(costMicro ?? 0n),
    refund: String(refundMicro ?? 0n),
    transaction: invocation.paymentHash ?? '',
    channel: paidBy.channel,
    status,
    taskHash: hexOf(hashes.task),
    ...contents,
    createdAt: seconds(invocation.createdAt),
    completedAt: seconds(completedAt),
    issuedAt: seconds(now),
    // Others keep the version that all verifiers know.
    ...(usage || filesHash
      ? { usageHash: usage ? hexOf(hashOfJson(usage)) : NO_HASH, filesHash: filesHash ?? NO_HASH }
      : {}),
  };
}
