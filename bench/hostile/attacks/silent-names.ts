import type { Attack } from '../attack.ts';
import { paced } from '../send.ts';

const AGENTS = 60;
const PER_SECOND = 2;

/** Free accounts that list agents under names that no server ever answers. */
export const silentNames: Attack = {
  does: `${AGENTS} agents of three free accounts under names that a silent DNS server has, moved to new names ${PER_SECOND} times a second`,
  async run({ free, seconds }, sender, begin) {
    begin();
    const agents: { id: string; key: string }[] = [];
    for (let nth = 0; nth < AGENTS; nth++) {
      const key = free[nth % free.length]?.apiKey ?? '';
      const body = {
        ...{ name: `Silent ${nth}`, description: 'An agent.', capabilities: ['silence'], rates: { perRequest: '0' } },
        endpoint: `http://agent.silent-${nth}.test/`,
      };
      const made = await sender.send({ method: 'POST', path: '/agents', key, body });
      if (made.status === 200) agents.push({ id: made.json().data.id, key });
    }
    await paced({ perSecond: PER_SECOND, seconds }, async (nth) => {
      const agent = agents[nth % agents.length];
      if (!agent) return;
      const body = { endpoint: `http://agent.moved-${nth}.test/` };
      await sender.send({ method: 'PUT', path: `/agents/${agent.id}`, key: agent.key, body });
    });
    for (const { id, key } of agents) await sender.send({ method: 'DELETE', path: `/agents/${id}`, key });
    const ready = await sender.send({ path: '/readyz' });
    return [
      { text: `all ${AGENTS} agents are listed`, held: agents.length === AGENTS },
      { text: 'the node is ready', held: ready.status === 200 },
    ];
  },
};
