import type { NodeIdentity } from '../../chain/chain-info.ts';
import { DAY_MS } from '../../lib/duration.ts';
import type { Store } from '../../store/database.ts';
import type { Agent } from '../agent.ts';
import { credibilityOf, type PayerHistory, payerHistoryOf } from './credibility.ts';
import { type Evidence, evidenceOf, weights } from './evidence.ts';
import { findHistories, listContacts, listGifts, listPaidOwners, listTrades, saveHistories } from './payer-store.ts';
import { type Party, type PayerBooks, partiesOf, type Tie } from './payer-ties.ts';
import { findRegistryWallet, listPayerOutcomes } from './reputation-store.ts';

export type JudgeContext = Store & NodeIdentity;

const HISTORY_HOLDS_MS = DAY_MS;
const BATCH = 1000;
const unknown: PayerHistory = { breadth: 0, since: null };

type Owned = Pick<Agent, 'id' | 'accountId' | 'owner'>;

/** Evidence of the payers of an agent, by the present books. */
export async function readEvidence(ctx: JudgeContext, agent: Owned): Promise<Evidence> {
  const now = ctx.clock.now();
  const outcomes = await listPayerOutcomes(ctx.db, agent.id, now, weights);
  const payers = outcomes.map(({ accountId }) => accountId);
  const [parties, histories] = await Promise.all([readParties(ctx, agent, payers), readHistories(ctx, payers)]);
  return evidenceOf(outcomes, parties, (id) => credibilityOf(histories.get(id) ?? unknown, now));
}

/** The tie of each payer to the owner of an agent, evaluated one by one: independent of the other payers in the query. */
export async function tiesOfPayers(
  ctx: JudgeContext,
  agent: Owned,
  payers: readonly string[],
): Promise<Map<string, Tie>> {
  const { subject, books, stated } = await readBooks(ctx, agent, payers);
  return new Map(
    payers.map((payer) => {
      const isOfBoth = (id: string) => id === payer || id === agent.accountId;
      const ofBoth = {
        contacts: books.contacts.filter(({ accountId }) => isOfBoth(accountId)),
        gifts: books.gifts.filter(({ from }) => isOfBoth(from)),
        trades: books.trades.filter(({ from, to }) => to === payer && isOfBoth(from)),
      };
      const [party] = partiesOf(subject, [payer], ofBoth, stated);
      return [payer, party?.tie ?? 'none'] as const;
    }),
  );
}

async function readParties(ctx: JudgeContext, agent: Owned, payers: readonly string[]): Promise<Party[]> {
  const { subject, books, stated } = await readBooks(ctx, agent, payers);
  return partiesOf(subject, payers, books, stated);
}

/**
 * The books about an agent's owner and payers, and the names of the owner in them. `stated`: the wallet that the agent's home states for its
 * owner, or that somebody has sent its token to. Its holder need not agree; that of the account's own wallet does, which is a contact.
 */
async function readBooks(
  ctx: JudgeContext,
  agent: Owned,
  payers: readonly string[],
): Promise<{ subject: string[]; books: PayerBooks; stated: string }> {
  const everyone = [...new Set([...payers, agent.accountId])];
  const [contacts, gifts, trades, wallet] = await Promise.all([
    listContacts(ctx.db, everyone),
    listGifts(ctx.db, everyone),
    listTrades(ctx.db, everyone, payers),
    findRegistryWallet(ctx.db, agent.id, ctx.chain.chainId),
  ]);
  const subject = [agent.accountId, ...(wallet === null ? [] : [wallet])];
  return { subject, books: { contacts, gifts, trades }, stated: agent.owner.toLowerCase() };
}

/** The histories of payers; missing or expired ones are computed. */
async function readHistories(ctx: JudgeContext, accountIds: readonly string[]): Promise<Map<string, PayerHistory>> {
  const now = ctx.clock.now();
  const known = await findHistories(ctx.db, accountIds, new Date(now.getTime() - HISTORY_HOLDS_MS));
  const missing = accountIds.filter((id) => !known.has(id));
  for (let from = 0; from < missing.length; from += BATCH) {
    const found = await computeHistories(ctx, missing.slice(from, from + BATCH));
    await saveHistories(ctx.db, found, now);
    for (const each of found) known.set(each.accountId, each);
  }
  return known;
}

async function computeHistories(
  ctx: Store,
  accountIds: readonly string[],
): Promise<(PayerHistory & { accountId: string })[]> {
  const paid = await listPaidOwners(ctx.db, accountIds);
  const owners = [...new Set(paid.map(({ ownerId }) => ownerId))];
  const everyone = [...new Set([...accountIds, ...owners])];
  const [contacts, gifts, trades] = await Promise.all([
    listContacts(ctx.db, everyone),
    listGifts(ctx.db, everyone),
    // An owner that paid an agent of the payer's gave money to it.
    listTrades(ctx.db, owners, accountIds),
  ]);
  const contactsOf = Map.groupBy(contacts, ({ accountId }) => accountId);
  const giftsOf = Map.groupBy([...gifts, ...trades], ({ from }) => from);
  const paidBy = Map.groupBy(paid, ({ accountId }) => accountId);
  return accountIds.map((accountId) => {
    const mine = paidBy.get(accountId) ?? [];
    const involved = [...new Set([accountId, ...mine.map(({ ownerId }) => ownerId)])];
    const books = {
      contacts: involved.flatMap((id) => contactsOf.get(id) ?? []),
      gifts: involved.flatMap((id) => giftsOf.get(id) ?? []),
      trades: [],
    };
    return { accountId, ...payerHistoryOf(accountId, mine, books) };
  });
}
