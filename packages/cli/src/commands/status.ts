import type { Command } from 'commander';
import { action } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { formatFacts } from '../output/table.ts';
import type { Session } from '../session.ts';

const TIMEOUT_MS = 10_000;

export interface Readiness {
  readonly isReady: boolean;
  readonly status: number | null;
  readonly details: unknown;
  /** Milliseconds by which the node's clock is ahead of this machine's; null: it sent no time. */
  readonly clockAheadMs: number | null;
}

/** Asks a node whether it is ready. */
export async function readReadiness(url: string): Promise<Readiness> {
  try {
    const startMs = Date.now();
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const atMs = (startMs + Date.now()) / 2;
    const date = Date.parse(response.headers.get('date') ?? '');
    const details: unknown = await response.json().catch(() => null);
    // The header has whole seconds.
    const clockAheadMs = Number.isNaN(date) ? null : date + 500 - atMs;
    return { isReady: response.ok, status: response.status, details, clockAheadMs };
  } catch {
    return { isReady: false, status: null, details: null, clockAheadMs: null };
  }
}

export function addStatus(program: Command): void {
  program.command('status').description('whether the node is ready, and its version').action(action(status));
}

async function status({ url, client, terminal }: Session): Promise<ExitCode> {
  const readiness = await readReadiness(url);
  const network = readiness.isReady ? await client.getNetwork() : null;
  const { isReady } = readiness;
  terminal.result({ url, isReady, status: readiness.status, checks: readiness.details, network }, () =>
    formatFacts([
      ['node', url],
      ['ready', isReady ? terminal.good('yes') : terminal.bad(readiness.status === null ? 'no answer' : 'no')],
      ['version', network?.node.version ?? null],
      ['agents', network && `${network.agents.local} here, ${network.agents.remote} at other nodes`],
    ]),
  );
  return isReady ? EXIT.done : EXIT.failed;
}
