/** Carries out one attack, in a process of its own that run.ts gives the lowest priority, so that it takes little of the node's processor. */
import { attacks } from './attacks/all.ts';
import { createSender } from './send.ts';
import type { AttackResult, Site } from './site.ts';

process.once('message', async (site: Site) => {
  const attack = attacks[site.attack];
  if (!attack) throw new Error(`no attack ${site.attack}`);
  const sender = createSender(site);
  const claims = await attack.run(site, sender, () => process.send?.('begun'));
  const result: AttackResult = { attempts: sender.attempts(), answers: sender.answers, claims };
  process.send?.(result, () => process.exit(0));
});
