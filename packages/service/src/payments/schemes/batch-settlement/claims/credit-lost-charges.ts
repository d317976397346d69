import { deepestOf } from '../../../../chain/blocks/confirmation-depth.ts';
import type { NodeIdentity } from '../../../../chain/chain-info.ts';
import type { ChannelOnChain } from '../../../../chain/channels/settlement-contract-client.ts';
import type { Tx } from '../../../../store/sql.ts';
import type { ChainContext } from '../../../chain-outbox/chain-context.ts';
import { accountOfWallet } from '../../../deposits/suspense.ts';
import { inAsset } from '../../../ledger/asset-account.ts';
import { type NewTransfer, postTransfers, VOUCHERS } from '../../../ledger/ledger-store.ts';
import { channelAccountId } from '../channel.ts';
import { type BookedChannel, chargeLost, listOverclaimed, lockBooked } from './booking-store.ts';

/**
 * Charges channels for amounts claimed beyond the books, and credits them to their payers: calls that a restored database has lost, with
 * their results and earnings. From then on the next voucher is above every claimed one, as the contract, stock clients and the safety of
 * public vouchers require. Counts only claims at the maximum confirmation depth, which no reorg removes.
 */
export async function creditLostCharges(ctx: ChainContext): Promise<void> {
  const found = await listOverclaimed(ctx.db, ctx.chain);
  if (found.length === 0) return;
  const ids = found.map(({ id }) => id);
  const head = await ctx.settlementContract.headBlock();
  const depth = deepestOf(ctx.confirmations);
  const states = await ctx.settlementContract.readChannels(ids, head < depth ? 0n : head - depth + 1n);
  const onChain = new Map(ids.map((id, index) => [id, states[index] as ChannelOnChain]));
  const credited = await ctx.db.transaction(async (tx) => {
    const now = ctx.clock.now();
    const charged = (await lockBooked(tx, ids)).flatMap((channel) => {
      const lostMicro = lostOf(channel, onChain.get(channel.id));
      return lostMicro > 0n ? [{ channel, lostMicro }] : [];
    });
    const transfers: NewTransfer[] = [];
    for (const { channel, lostMicro } of charged)
      transfers.push(...(await creditOne(ctx, tx, { channel, lostMicro }, now)));
    await postTransfers(tx, transfers, now);
    return charged;
  });
  for (const { channel, lostMicro } of credited)
    ctx.log.warn(
      { stream: 'security', channelId: channel.id, lostMicro: String(lostMicro) },
      'more was claimed of a channel than the books had charged: credited to its payer',
    );
}

/** Amount that a channel was charged beyond the books, as far as its claims are deep. */
function lostOf(
  { claimedMicro, chargedMicro, reservedMicro }: BookedChannel,
  deep: ChannelOnChain | undefined,
): bigint {
  const deepMicro = deep?.claimedMicro ?? 0n;
  const certainMicro = deepMicro < claimedMicro ? deepMicro : claimedMicro;
  return certainMicro - chargedMicro - reservedMicro;
}

async function creditOne(
  { chain }: Pick<NodeIdentity, 'chain'>,
  tx: Tx,
  { channel: { id, chargedMicro }, lostMicro: amountMicro }: { channel: BookedChannel; lostMicro: bigint },
  now: Date,
): Promise<NewTransfer[]> {
  const payer = await chargeLost(tx, id, amountMicro, now);
  const asset = chain.ledgerAsset;
  const credit = await accountOfWallet(tx, payer, now, asset);
  const account = channelAccountId(id, asset);
  // The charged sum of a channel never falls: each sum is credited once.
  const turn = `${id}:${chargedMicro}`;
  return [
    {
      id: `lost_voucher:${turn}`,
      debit: inAsset(VOUCHERS, asset),
      credit: account,
      amountMicro,
      kind: 'voucher',
      subjectId: id,
    },
    { id: `lost_charge:${turn}`, debit: account, credit, amountMicro, kind: 'claim', subjectId: id },
  ];
}
