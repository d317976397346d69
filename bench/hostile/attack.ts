import type { Sender } from './send.ts';
import type { Claim, Site } from './site.ts';

export interface Attack {
  /** What it does and how often, for the reader of the table. */
  readonly does: string;
  run(site: Site, sender: Sender): Promise<readonly Claim[]>;
}
