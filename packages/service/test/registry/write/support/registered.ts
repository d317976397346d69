import type { Harness } from '../../../support/harness.ts';
import { until } from '../../../support/until.ts';

type Host = Pick<Harness, 'request'>;

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Identity = any;

/** Waits until an agent's identity record is as wanted, and answers it. */
export async function untilIdentity(
  host: Host,
  agentId: string,
  isWanted: (identity: Identity) => boolean,
): Promise<Identity> {
  let last: Identity = null;
  const isAsWanted = async () => {
    last = (await host.request('GET', `/identity/${agentId}`)).body.data;
    return isWanted(last);
  };
  await until(isAsWanted).catch((cause) => {
    throw new Error(`the identity record stayed as ${JSON.stringify(last)}`, { cause });
  });
  return last;
}

export const untilRegistered = (host: Host, agentId: string): Promise<Identity> =>
  untilIdentity(host, agentId, ({ registration }) => registration === 'registered');
