import type { Attack } from '../attack.ts';
import { paced } from '../send.ts';

const PER_SECOND = 20;

/** Free calls without a key, as large as they may be: their results fill what visitors share. */
export const visitors: Attack = {
  does: `${PER_SECOND} a second, without a key: calls of a free agent with 15 kB each`,
  async run({ seconds }, sender, begin) {
    const listed = await sender.send({ path: '/agents?maxPrice=0' });
    const id = listed
      .json()
      .data.agents.find(({ rates }: { rates: { perRequest: string } }) => Number(rates.perRequest) === 0)?.id;
    begin();
    const body = { task: 'x', input: { text: 'x'.repeat(15_000) } };
    let full = 0;
    await paced({ perSecond: PER_SECOND, seconds }, async () => {
      const answer = await sender.send({ method: 'POST', path: `/x402/${id}`, body });
      if (answer.text.includes('STORAGE_LIMIT_EXCEEDED')) full += 1;
    });
    return [{ text: `no call was refused for storage (${full})`, held: id !== undefined && full === 0 }];
  },
};
