import { contradictions } from '../../support/books.ts';
import { checkAgents, checkClient, checkReserves, checkToken, checkWallet } from './audit-balances.ts';
import { checkBills, letBillsExpire } from './audit-bills.ts';
import { checkChannels, closeChannels } from './audit-channels.ts';
import { checkDeal, checkDeposits } from './audit-deals.ts';
import type { BankBook } from './bank-book.ts';
import { gatherFacts, sum } from './bank-facts.ts';
import type { BankScene } from './bank-world.ts';
import { untilNothingIsOpen } from './open-work.ts';

/** Waits until nothing is open, and then holds what the clients did against the books, the agents and the chain, to the last millionth. */
export async function auditEnd(world: BankScene, book: BankBook, timeoutMs: number): Promise<void> {
  const { tally } = world;
  await letBillsExpire(world, timeoutMs);
  for (const open of await untilNothingIsOpen(world.databaseUrl, timeoutMs)) tally.violation(`left open: ${open}`);
  await closeChannels(world, timeoutMs);
  for (const problem of await contradictions(world.databaseUrl)) tally.violation(`at the end: ${problem}`);
  const facts = await gatherFacts(world, book);
  for (const deal of book.deals) await checkDeal(facts, deal);
  checkDeposits(facts);
  checkBills(facts);
  const owed = sum([
    ...(await Promise.all(world.clients.map((client) => checkClient(facts, client)))),
    await checkAgents(facts),
    ...facts.creditedMicro.values(),
  ]);
  await checkWallet(world, owed - (await checkChannels(facts)));
  await checkToken(world);
  await checkReserves(world);
}
