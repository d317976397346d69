import { accountsOfWallets } from '../../accounts/link-wallet.ts';
import { takeTransfer, transferPoints } from '../../chain/blocks/transfer-point-store.ts';
import { ownWallets } from '../../chain/chain-info.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import type { Tx } from '../../store/sql.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import { creditTransfers } from '../deposits/credit-transfers.ts';
import { suspenseAccountId } from '../deposits/suspense.ts';
import { inAsset } from '../ledger/asset-account.ts';
import { FEES, findTreasuryIds } from '../ledger/ledger-store.ts';
import { charge, collect } from '../payouts/charge-payout.ts';
import {
  closeExplained,
  type FoundPayout,
  listFoundPayouts,
  listSources,
  listUnshownOf,
  lockFoundPayout,
  readLastDays,
  writeFoundPayout,
} from '../payouts/found-payout-store.ts';
import { isOfWithdrawal, sourceOf } from '../payouts/withdraw.ts';

/** A payout that a request of the books will claim, as its nonce derives from the request. */
export interface RequestPayout {
  readonly requestId: string;
  readonly purpose: 'refund' | 'return' | 'second_return' | 'bill';
}

/**
 * `find`: the nonces that belong to requests in the books, ended ones only with payments made since a time. `end`: ends a request that the
 * chain has refunded.
 */
export interface RequestPayouts {
  find(nonces: readonly string[], since: Date): Promise<ReadonlyMap<string, RequestPayout>>;
  end(requestId: string): Promise<void>;
}

type ExplainContext = ChainContext & Pick<NodeKeys, 'secrets'> & { readonly requestPayouts: RequestPayouts };

const SOURCES_AT_ONCE = 5000;

/**
 * Finds the origin of payouts without a payment, in this order.
 * - A request of the books claims it as its refund or bill: the request keeps it, and one that was refunded ends.
 * - The nonce encodes the account of a withdrawal: that account is charged.
 * - The paid wallet had paid this node as much, in payments never presented: they are credited, and the payout is charged to them.
 * - Otherwise an operator decides, once the incoming transfers are read up to the payout's block.
 */
export async function explainPayouts(ctx: ExplainContext): Promise<void> {
  const { db, chain, clock } = ctx;
  const open = await listFoundPayouts(db, chain, ['found', 'expected', 'undecided', 'due']);
  if (open.length === 0) return;
  await closeExplained(db, chain, ownWallets(chain), clock.now());
  const found = open.filter(({ state }) => state === 'found');
  const requests = await ctx.requestPayouts.find(
    found.map(({ nonce }) => nonce),
    await readLastDays(db),
  );
  const sources = await findSources(ctx, found);
  const [incoming] = found.length > 0 ? await transferPoints.list(db, chain) : [];
  const readBlock = incoming?.block ?? -1n;
  for (const payout of found)
    await explain(ctx, payout, {
      request: requests.get(payout.nonce),
      source: sources.get(payout.nonce),
      isIncomingRead: payout.blockNumber <= readBlock,
    });
  for (const { id } of open.filter(({ state }) => state === 'due'))
    await db.transaction((tx) => collect(tx, id, clock.now()));
  const refunded = await listFoundPayouts(db, chain, ['expected']);
  for (const { requestId } of refunded.filter(({ purpose }) => purpose === 'refund'))
    if (requestId) await ctx.requestPayouts.end(requestId);
}

/** The ledger accounts that withdrawals with these nonces were paid from, by nonce. */
async function findSources(ctx: ExplainContext, payouts: readonly FoundPayout[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const nonces = payouts.map(({ nonce }) => nonce).filter((nonce) => isOfWithdrawal(ctx.secrets, nonce));
  if (nonces.length === 0) return found;
  const match = (accounts: readonly string[]) => {
    for (const nonce of nonces.filter((each) => !found.has(each))) {
      const source = sourceOf(ctx.secrets, nonce, accounts);
      if (source) found.set(nonce, source);
    }
  };
  match([inAsset(FEES, ctx.chain.ledgerAsset)]);
  for (let after = ''; found.size < nonces.length; ) {
    const accounts = await listSources(ctx.db, after, SOURCES_AT_ONCE);
    match(accounts);
    const last = accounts.at(-1);
    if (last === undefined) break;
    after = last;
  }
  return found;
}

async function explain(
  ctx: ExplainContext,
  { id }: FoundPayout,
  {
    request,
    source,
    isIncomingRead,
  }: { request: RequestPayout | undefined; source: string | undefined; isIncomingRead: boolean },
): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    const now = ctx.clock.now();
    const payout = await lockFoundPayout(tx, id, ['found']);
    if (!payout) return;
    if (request) await writeFoundPayout(tx, { ...payout, ...request, state: 'expected' }, now);
    else if (source) await charge(tx, payout, source, now);
    else if (isIncomingRead) {
      const paidIn = payout.isPlain ? null : await creditPaidIn(ctx, tx, payout);
      if (paidIn) await charge(tx, payout, paidIn, now);
      else await writeFoundPayout(tx, { ...payout, state: 'undecided' }, now);
    }
  });
}

/**
 * Credits transfers that the paid wallet sent by authorizations never presented, if they cover the payout: the database has lost that
 * payment, and its refund is charged to it. Returns the credited account; null: the wallet sent less.
 */
async function creditPaidIn(ctx: ExplainContext, tx: Tx, { to, valueMicro }: FoundPayout): Promise<string | null> {
  const unshown = await listUnshownOf(tx, ctx.chain, to);
  const same = unshown.find((each) => each.valueMicro === valueMicro);
  const transfers = same ? [same] : unshown;
  if (transfers.reduce((sum, each) => sum + each.valueMicro, 0n) < valueMicro) return null;
  for (const transfer of transfers) await takeTransfer(tx, ctx.chain, transfer);
  await creditTransfers(ctx, tx, transfers);
  const owner = (await accountsOfWallets(tx, [to])).get(to);
  const treasury = owner && (await findTreasuryIds(tx, [owner], ctx.chain.ledgerAsset)).get(owner);
  return treasury ?? suspenseAccountId(to, ctx.chain.ledgerAsset);
}
