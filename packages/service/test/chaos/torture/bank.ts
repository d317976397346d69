import { setTimeout as sleep } from 'node:timers/promises';
import { auditEnd } from './audit-end.ts';
import { startAuditor } from './audit-reads.ts';
import { newBook } from './bank-book.ts';
import { actOnce } from './bank-clients.ts';
import { type BankParts, type BankWorld, startBankWorld } from './bank-world.ts';
import { startNemesis } from './nemesis.ts';
import { createRandom } from './random.ts';
import { createTally, type Tally } from './tally.ts';

export interface BankOptions
  extends Partial<Pick<BankParts, 'processes' | 'clients' | 'agents' | 'chain' | 'database'>> {
  readonly seed: string;
  /** How long clients act and things go wrong; then all comes to rest. */
  readonly actsForMs: number;
  /** How long it may take until nothing is open. */
  readonly restsWithinMs: number;
  readonly reorganises?: boolean;
  /** The longest pause between two faults. */
  readonly faultPauseMs?: number;
}

/**
 * Clients that buy, pay in, pay out and cancel, at a node of several processes to which everything happens that can; then rest, and
 * the question whether every micro-USDC is where it belongs. The choices follow from the seed; their timing is the machine's.
 */
export async function runBank(options: BankOptions): Promise<Tally> {
  const { seed } = options;
  const tally = createTally(seed);
  const world = await startBankWorld({
    processes: 2,
    clients: 8,
    agents: 3,
    ...options,
    tally,
    random: createRandom(seed, 'world'),
  });
  try {
    await disturbAndAudit(world, options);
  } finally {
    await world.stop();
  }
  return tally;
}

async function disturbAndAudit(world: BankWorld, options: BankOptions): Promise<void> {
  const { seed, reorganises = false, faultPauseMs = 1500 } = options;
  const book = newBook();
  const auditor = startAuditor(world, createRandom(seed, 'auditor'), reorganises ? 20_000 : 2000);
  const nemesis = startNemesis(world, createRandom(seed, 'nemesis'), { reorganises, pauseMs: faultPauseMs });
  const endMs = performance.now() + options.actsForMs;
  const acting = world.clients.map(async (client) => {
    const random = createRandom(seed, client.name);
    while (performance.now() < endMs) {
      await actOnce({ world, client, random, book });
      await sleep(random.int(0, 200));
    }
  });
  await sleep(options.actsForMs);
  await nemesis.stop();
  await Promise.all(acting);
  await auditEnd(world, book, options.restsWithinMs);
  await auditor.stop();
}
