import type { Attack } from '../attack.ts';
import { paced } from '../send.ts';

const PER_SECOND = 4;

/** Schemas with patterns that fold every letter for each of their ranges, or are as large as allowed. Each is different. */
export const patternBombs: Attack = {
  does: `${PER_SECOND} a second: agents whose schemas have patterns that take seconds to compile, or all that is allowed`,
  async run({ rich, seconds }, sender, begin) {
    begin();
    let bombs = 0;
    let refused = 0;
    await paced({ perSecond: PER_SECOND, seconds }, async (nth) => {
      const isBomb = nth % 2 === 0;
      const { status } = await sender.send({
        method: 'POST',
        path: '/agents',
        key: rich.apiKey,
        body: agentOf(nth, isBomb),
      });
      if (!isBomb) return;
      bombs += 1;
      if (status >= 400) refused += 1;
    });
    return [{ text: `every bomb was refused (${refused} of ${bombs})`, held: refused === bombs }];
  },
};

function agentOf(nth: number, isBomb: boolean) {
  const ranges = isBomb ? `(?i:${'[B-\u{1e940}]'.repeat(80)})` : 'x{900}';
  const names = Array.from({ length: 25 }, (_, at) => `${ranges}${nth}-${at}`);
  const outputSchema = { patternProperties: Object.fromEntries(names.map((name) => [name, {}])) };
  return {
    name: `bomb ${nth}`,
    endpoint: 'http://127.0.0.1:9/',
    capabilities: ['bombs'],
    rates: { perRequest: '0.01' },
    types: { outputSchema },
  };
}
