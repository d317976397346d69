import { SETTLEMENT_CONTRACT } from '../../../src/chain/channels/channel-calls.ts';
import { createSettlementContract } from '../../../src/chain/channels/settlement-contract-client.ts';
import { until } from '../../../src/lib/concurrency/until.ts';
import { askDatabase } from '../../support/books.ts';
import { isPaidOut } from './audit-bills.ts';
import { type Facts, sum } from './bank-facts.ts';
import { type BankClient, type BankScene, WALLET_MICRO } from './bank-world.ts';
import { refund } from './channel-acts.ts';

interface ChannelRow {
  readonly id: string;
  readonly charged: string;
  readonly reserved: string;
  readonly claimed: string;
  readonly lost: string;
}

/** SQL: claimable debts of channels, and pending claims and refunds. */
const OPEN = `
  select 'channel ' || c.id || ' has calls in flight' as open from channel c where reserved_micro > 0
  union all
  select 'channel ' || c.id || ' has ' || claimed_micro || ' of ' || charged_micro || ' claimed' from channel c
   where charged_micro > claimed_micro + lost_micro
     and exists (select from channel_charge g where g.channel_id = c.id and g.max_micro <= c.charged_micro and g.max_micro > c.claimed_micro)
  union all
  select reason || ' ' || id || ' is sent' from channel_claim where state = 'sent'
  union all
  select 'refund ' || id || ' is sent' from channel_refund where state = 'sent'
  union all
  select 'channel ' || id || ' waits for its refund' from channel where refund_id is not null
  union all
  select 'of the claims are ' || settled_micro || ' of ' || known_micro + foreign_micro || ' swept' from channel_receiver
   where settled_micro <> known_micro + foreign_micro`;

/** Closes every payer's channels, with claims and sweeps of their debts. */
export async function closeChannels(world: BankScene, timeoutMs: number): Promise<void> {
  for (const client of world.clients)
    for (const channel of client.channel.channels) {
      const closed = await refund({ world }, channel, null);
      world.tally.count('requests', `closed a channel: ${closed}`);
    }
  const read = async () => askDatabase<{ open: string }>(world.databaseUrl, OPEN);
  await until(async () => ((await read()).length === 0 ? true : null), { timeoutMs, firstMs: 50, maxMs: 500 });
  for (const { open } of await read()) world.tally.violation(`left open: ${open}`);
}

/**
 * Checks that each channel was charged the cost of its calls, that the contract has that claimed, and the payer the rest. Returns the
 * amount that the wallet lacks: less than the price of a call in each channel, for which no voucher may be published.
 */
export async function checkChannels(facts: Facts): Promise<bigint> {
  const { world } = facts;
  const { chainId, token } = world.ctx.chain;
  const contract = createSettlementContract({
    rpcUrl: world.chain.rpcUrl,
    chainId,
    token,
    wallet: world.walletAddress,
  });
  const rows = await askDatabase<ChannelRow>(
    world.databaseUrl,
    `select id, charged_micro::text as charged, reserved_micro::text as reserved, claimed_micro::text as claimed, lost_micro::text as lost
       from channel`,
  );
  let unclaimedMicro = 0n;
  let leftMicro = 0n;
  for (const client of world.clients) {
    const ids = client.channel.channels.map(({ payer }) => payer.channelId);
    const onChain = await contract.readChannels(ids, null);
    for (const [index, id] of ids.entries()) {
      const { claimedMicro = 0n, balanceMicro = 0n } = onChain[index] ?? {};
      leftMicro += balanceMicro - claimedMicro;
      unclaimedMicro += checkChannel(facts, rows.find((row) => row.id === id) ?? empty(id), {
        claimedMicro,
        balanceMicro,
      });
    }
    await checkPayer(facts, client, sum(onChain.map(({ balanceMicro }) => balanceMicro)));
  }
  const { claimedMicro, sweptMicro } = await contract.receiverTotals(null);
  const [holds, should] = [await world.usdcOf(SETTLEMENT_CONTRACT), leftMicro + claimedMicro - sweptMicro];
  if (holds !== should) world.tally.violation(`the settlement contract holds ${holds}, and ${should} by its channels`);
  return unclaimedMicro + claimedMicro - sweptMicro;
}

const empty = (id: string): ChannelRow => ({ id, charged: '0', reserved: '0', claimed: '0', lost: '0' });

function checkChannel(
  facts: Facts,
  row: ChannelRow,
  onChain: { readonly claimedMicro: bigint; readonly balanceMicro: bigint },
): bigint {
  const wrong = (what: string) => facts.world.tally.violation(`channel ${row.id}: ${what}`);
  const costs = sum(
    requestsOf(facts, row.id).map((each) => {
      return isPaidOut(facts, 'return', each) ? BigInt(each.billMicro ?? 0) : BigInt(each.costMicro);
    }),
  );
  const charged = BigInt(row.charged);
  // A call that was claimed ahead and failed: its payer has been credited what was claimed.
  const credited = facts.creditedMicro.get(row.id) ?? 0n;
  if (charged !== costs + credited)
    wrong(`was charged ${charged} for calls that cost ${costs}, and ${credited} that were credited`);
  if (row.reserved !== '0') wrong(`has ${row.reserved} in flight`);
  if (row.lost !== '0') wrong(`has lost ${row.lost}`);
  const { claimedMicro, balanceMicro } = onChain;
  if (BigInt(row.claimed) !== claimedMicro)
    wrong(`is claimed ${claimedMicro} on chain, and ${row.claimed} by the books`);
  const unclaimed = charged - claimedMicro;
  if (unclaimed < 0n || unclaimed >= PRICE_MICRO) wrong(`was charged ${charged}, of which ${claimedMicro} are claimed`);
  if (balanceMicro < charged) wrong(`was charged ${charged}, and holds ${balanceMicro}`);
  facts.world.tally.count('readings', charged > 0n ? 'a channel that paid' : 'a channel that paid nothing');
  return unclaimed;
}

const PRICE_MICRO = 10_000n;

/** Checks that the money which left the payer's wallet is in its channels, except returned bills. */
async function checkPayer(facts: Facts, { name, channel }: BankClient, inChannels: bigint): Promise<void> {
  const { world } = facts;
  const requests = channel.channels.flatMap(({ payer }) => requestsOf(facts, payer.channelId));
  const returned = sum(requests.map((row) => (isPaidOut(facts, 'return', row) ? BigInt(row.billMicro ?? 0) : 0n)));
  const holds = await world.usdcOf(channel.wallet.address);
  if (holds + inChannels !== WALLET_MICRO + returned)
    world.tally.violation(
      `${name}: its channels hold ${inChannels}, ${returned} came back, and its wallet holds ${holds}`,
    );
}

const requestsOf = ({ requests }: Facts, channelId: string) =>
  requests.filter(({ payer }) => payer === `channel:${channelId}`);
