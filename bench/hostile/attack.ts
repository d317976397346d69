import type { Sender } from './send.ts';
import type { Claim, Site } from './site.ts';

export interface Attack {
  /** The attack and its rate, for the reader of the table. */
  readonly does: string;
  /** Free accounts that it has; default 3. */
  readonly freeAccounts?: number;
  /** Call `begin` when everything is prepared: costs are measured from then on. */
  run(site: Site, sender: Sender, begin: () => void): Promise<readonly Claim[]>;
}
