import { readFile } from 'node:fs/promises';
import type { Client } from '@agent-network/sdk';
import { CommandError, EXIT } from '../exit-codes.ts';

const ANSWER_MS = 2_000;
const LOOPBACK = /^(127(\.\d+){3}|localhost|\[::1\])$/;
/** The answer of a served agent to a GET. */
const IS_SERVED = '{"status":"ok"}';

async function isServedAt(endpoint: string): Promise<boolean> {
  if (!LOOPBACK.test(URL.parse(endpoint)?.hostname ?? '')) return false;
  try {
    const response = await fetch(endpoint, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'manual' });
    return (await response.text()) === IS_SERVED;
  } catch {
    return false;
  }
}

/**
 * Throws if another run on this machine serves the agent of this file: this one would take its calls away, as two programs do that have
 * the same name, such as that of their interpreter. `endpoint`: where this run is to be reached; undefined: a free port.
 */
export async function requireNoOtherRun(
  client: Client,
  tokenFile: string,
  { name, endpoint }: { readonly name: string; readonly endpoint: string | undefined },
): Promise<void> {
  const text = await readFile(tokenFile, 'utf8').catch(() => null);
  if (text === null) return;
  const { agentId } = JSON.parse(text) as { agentId: string };
  // A node that does not know it any more has it registered anew.
  const known = await client.getAgent({ params: { id: agentId } }).catch(() => null);
  if (known === null || known.endpoint === endpoint || !(await isServedAt(known.endpoint))) return;
  throw new CommandError(
    `Another run serves the agent "${name}" (${agentId}) at ${known.endpoint}. End it first, or give this agent a name of its own with --name.`,
    { code: 'ALREADY_SERVED', exitCode: EXIT.failed },
  );
}
