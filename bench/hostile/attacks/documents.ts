import type { Attack } from '../attack.ts';
import { paced } from '../send.ts';

const PER_SECOND = 100;
const ANONYMOUS = 1000;

/** Everything that answers without a key. */
export const documents: Attack = {
  does: `${PER_SECOND} a second: /readyz, /openapi.json, /docs, the registration file, and lists without a key`,
  async run({ seconds }, sender, begin) {
    const paths = ['/readyz', '/openapi.json', '/docs', '/.well-known/agent-network.json', '/agents?limit=100'];
    begin();
    let listed = 0;
    await paced({ perSecond: PER_SECOND, seconds }, async (nth) => {
      const path = paths[nth % paths.length] ?? '/';
      const { status } = await sender.send({ path });
      if (path.startsWith('/agents') && status === 200) listed += 1;
    });
    return [{ text: `at most ${ANONYMOUS} lists without a key (${listed})`, held: listed <= ANONYMOUS }];
  },
};
