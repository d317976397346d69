import { until } from '../../../../src/lib/concurrency/until.ts';
import type { Harness } from '../../../support/harness.ts';

type Host = Pick<Harness, 'request'>;

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Identity = any;

/** Waits until an agent's identity record is as wanted, and answers it. */
export async function untilIdentity(
  host: Host,
  agentId: string,
  isWanted: (identity: Identity) => boolean,
  timeoutMs = 15_000,
): Promise<Identity> {
  let last: Identity = null;
  const found = await until(
    async () => {
      last = (await host.request('GET', `/identity/${agentId}`)).body.data;
      return isWanted(last) ? last : null;
    },
    { timeoutMs, firstMs: 20, mostMs: 100 },
  );
  if (!found) throw new Error(`the identity record stayed as ${JSON.stringify(last)}`);
  return found;
}

export const untilRegistered = (host: Host, agentId: string, timeoutMs?: number): Promise<Identity> =>
  untilIdentity(host, agentId, ({ registration }) => registration === 'registered', timeoutMs);
