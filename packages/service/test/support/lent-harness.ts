import { rmSync } from 'node:fs';
import { type Harness, startHarness } from './harness.ts';
import { lend } from './lend.ts';

/** Files that borrow a node run beside each other (scripts/longest-first.ts); what is between them is short. */
const LINGER_MS = 10_000;

/**
 * A node that several test files use, one after another. For files that look only at what is their own: accounts, agents, wallets and
 * what comes of them; others start a node by `startHarness`. `stop` gives it back.
 */
export async function borrowHarness(): Promise<Harness> {
  const { it, giveBack } = await lend({
    name: 'A node',
    lingerMs: LINGER_MS,
    start: () => startLasting(startHarness),
    end: (node) => node.stop(),
  });
  return { ...it, stop: async () => giveBack() };
}

/** A node that may still run when its process ends. */
export async function startLasting(start: () => Promise<Harness>): Promise<Harness> {
  const h = await start();
  // In a process that ends before it, the chain and the database end by themselves; only files would stay.
  const removeFiles = () => rmSync(h.dataDir, { recursive: true, force: true });
  // Vitest ends its workers with SIGTERM, which runs no exit handlers.
  const exit = () => process.exit();
  process.once('exit', removeFiles).once('SIGTERM', exit);
  return {
    ...h,
    async stop() {
      await h.stop();
      process.off('exit', removeFiles).off('SIGTERM', exit);
    },
  };
}
