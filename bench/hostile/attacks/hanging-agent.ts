import type { Attack } from '../attack.ts';
import { startHostileAgent } from '../hostile-agent.ts';
import { paced } from '../send.ts';

const PER_SECOND = 30;
/** MAX_RUNNING_PER_ACCOUNT (a quarter of MAX_RUNNING) and MAX_WAITING_PER_ACCOUNT as they are by default. */
const PLACES = 128 + 1000;

/** Asynchronous calls of an agent that never answers. */
export const hangingAgent: Attack = {
  does: `${PER_SECOND} a second: asynchronous calls of an agent that never answers, of a free account and of one without an hourly limit`,
  async run({ free, rich, seconds }, sender, begin) {
    const keys = [free[0]?.apiKey ?? '', rich.apiKey];
    const agent = await startHostileAgent(sender, { key: rich.apiKey, answer: () => undefined });
    begin();
    const taken = keys.map(() => 0);
    await paced({ perSecond: PER_SECOND, seconds }, async (nth) => {
      const who = nth % 10 === 0 ? 0 : 1;
      const answer = await sender.send({
        ...{ method: 'POST', path: `/invoke/${agent.id}`, key: keys[who] ?? '' },
        body: { task: 'wait' },
      });
      if (answer.status < 300) taken[who] = (taken[who] ?? 0) + 1;
    });
    agent.stop();
    const [ofFree = 0, ofRich = 0] = taken;
    return [
      { text: `of the free account at most 10 were taken (${ofFree})`, held: ofFree <= 10 },
      { text: `of the other at most ${PLACES} were taken (${ofRich})`, held: ofRich <= PLACES },
    ];
  },
};
