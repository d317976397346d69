import { createEconomy, type Economy, neverProbed } from './economy.ts';

/** A situation and the bounds that the score of the agent of `owner` must keep. */
export interface Case {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  score(): number;
}

const OWNER = 'owner';
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

/** Makes accounts what an honest customer is after a while: five owners paid, since forty days. */
export function establish(economy: Economy, payers: readonly string[]): void {
  for (const payer of payers)
    for (const owner of names('somebody', 5)) economy.call({ payer, owner, ok: true, daysAgo: 40 });
}

function praise(economy: Economy, payers: readonly string[], times: number, ok = true): void {
  for (const payer of payers) economy.call({ payer, owner: OWNER, ok, times });
}

const scoreAfter = (happen: (economy: Economy) => void) => () => {
  const economy = createEconomy();
  happen(economy);
  return economy.scoreOf(OWNER);
};

/** Customers that are all content, and what then happens. */
const praised = (happen: (economy: Economy, customers: readonly string[]) => void) =>
  scoreAfter((economy) => {
    const customers = names('customer', 50);
    establish(economy, customers);
    praise(economy, customers, 2);
    happen(economy, customers);
  });

const between = (name: string, least: number, most: number, score: () => number): Case => ({
  name,
  least,
  most,
  score,
});

const honest: Case[] = [
  between('new, never probed', 267, 267, () => createEconomy().scoreOf(OWNER, neverProbed)),
  between(
    'new, healthy',
    467,
    467,
    scoreAfter(() => undefined),
  ),
  between(
    '10 established payers, 3 good calls each',
    870,
    880,
    scoreAfter((economy) => {
      establish(economy, names('customer', 10));
      praise(economy, names('customer', 10), 3);
    }),
  ),
  between(
    '50 established payers, 2 good calls each',
    950,
    960,
    praised(() => undefined),
  ),
  between(
    '50 established payers, 2 calls each, 90 % good',
    865,
    875,
    scoreAfter((economy) => {
      establish(economy, names('customer', 50));
      praise(economy, names('customer', 45), 2);
      praise(economy, names('customer', 50).slice(45), 2, false);
    }),
  ),
  between(
    '5 established payers, 3 failed calls each',
    200,
    300,
    scoreAfter((economy) => {
      establish(economy, names('customer', 5));
      praise(economy, names('customer', 5), 3, false);
    }),
  ),
  between(
    '50 established payers, 2 good calls each, 90 days ago',
    770,
    780,
    scoreAfter((economy) => {
      establish(economy, names('customer', 50));
      for (const payer of names('customer', 50)) economy.call({ payer, owner: OWNER, ok: true, times: 2, daysAgo: 90 });
    }),
  ),
];

const attacks: Case[] = [
  between(
    '1 established payer, 10,000 good calls',
    467,
    600,
    scoreAfter((economy) => {
      establish(economy, ['customer']);
      praise(economy, ['customer'], 10_000);
    }),
  ),
  between(
    '100 fresh sybils, 3 good calls each',
    467,
    565,
    scoreAfter((e) => praise(e, names('sybil', 100), 3)),
  ),
  between(
    '10,000 fresh sybils, 3 good calls each',
    467,
    565,
    scoreAfter((e) => praise(e, names('sybil', 10_000), 3)),
  ),
  between(
    '10,000 fresh sybils, 3 bad calls each',
    300,
    467,
    scoreAfter((e) => praise(e, names('sybil', 10_000), 3, false)),
  ),
  between(
    '10,000 fresh sybils, 3 bad calls each, against 50 content payers',
    790,
    960,
    praised((economy) => praise(economy, names('sybil', 10_000), 3, false)),
  ),
  between(
    '10,000 sybils, 3 good calls of 0.000001 USDC each',
    467,
    470,
    scoreAfter((economy) => {
      for (const payer of names('sybil', 10_000))
        economy.call({ payer, owner: OWNER, ok: true, times: 3, amountMicro: 1n });
    }),
  ),
];

const selfDealing: Case[] = [
  between(
    'the owner pays itself, 10,000 calls',
    467,
    467,
    scoreAfter((economy) => praise(economy, [OWNER], 10_000)),
  ),
  between(
    '100 established accounts that pay with the wallet of the owner',
    467,
    467,
    scoreAfter((economy) => {
      establish(economy, names('shill', 100));
      praise(economy, names('shill', 100), 10_000);
      for (const shill of [OWNER, ...names('shill', 100)]) economy.contact(shill, '0xshared');
    }),
  ),
  between(
    '100 established accounts that the owner sends money to',
    467,
    467,
    scoreAfter((economy) => {
      establish(economy, names('shill', 100));
      praise(economy, names('shill', 100), 10_000);
      for (const shill of names('shill', 100)) {
        economy.contact(shill, `0x${shill}`);
        economy.send(OWNER, `0x${shill}`);
      }
    }),
  ),
  between(
    '100 established accounts whose treasuries one stranger fills',
    467,
    600,
    scoreAfter((economy) => {
      establish(economy, names('shill', 100));
      praise(economy, names('shill', 100), 10_000);
      for (const shill of names('shill', 100)) economy.contact(shill, '0xstranger');
    }),
  ),
];

/** Accounts that pay each other's agents. `isOneWay`: of each two, only one pays the other. */
const ring = (size: number, daysAgo: number, isOneWay: boolean) =>
  scoreAfter((economy) => {
    const members = [OWNER, ...names('member', size - 1)];
    members.forEach((payer, from) => {
      for (let step = 1; step <= (isOneWay ? Math.floor((size - 1) / 2) : size - 1); step++) {
        const owner = members[(from + step) % size] as string;
        economy.call({ payer, owner, ok: true, times: 20, daysAgo });
        economy.call({ payer, owner, ok: true, times: 20 });
      }
    });
  });

const rings: Case[] = [
  between('ring of 20 that all pay each other, for 60 days', 467, 467, ring(20, 60, false)),
  between('ring of 21 that pay one way round, new', 467, 565, ring(21, 0, true)),
  between('ring of 11 that pay one way round, for 60 days (patience pays)', 467, 830, ring(11, 60, true)),
  between(
    '20 wallets that paid only owners of their own for 40 days',
    467,
    565,
    scoreAfter((economy) => {
      for (const payer of names('shill', 20)) {
        economy.contact(payer, `0x${payer}`);
        for (const owner of names(`${payer}front`, 5)) {
          economy.contact(owner, `0x${payer}`);
          economy.call({ payer, owner, ok: true, daysAgo: 40 });
        }
      }
      praise(economy, names('shill', 20), 3);
    }),
  ),
  between(
    'patient attacker: 20 wallets that paid 5 owners for 40 days (patience pays)',
    467,
    930,
    scoreAfter((economy) => {
      establish(economy, names('patient', 20));
      praise(economy, names('patient', 20), 3);
    }),
  ),
];

const silencing: Case[] = [
  between(
    'the owner sends money to 5 payers whose calls failed',
    200,
    300,
    scoreAfter((economy) => {
      establish(economy, names('customer', 5));
      praise(economy, names('customer', 5), 3, false);
      for (const customer of names('customer', 5)) {
        economy.contact(customer, `0x${customer}`);
        economy.send(OWNER, `0x${customer}`);
      }
    }),
  ),
  between(
    'a rival sends money to 50 content payers and to the owner',
    950,
    960,
    praised((economy, customers) => {
      for (const account of [OWNER, ...customers]) {
        economy.contact(account, `0x${account}`);
        economy.send('rival', `0x${account}`);
      }
    }),
  ),
];

/** Every case of notes on reputation, and those that linking payers has to stand. */
export const cases: readonly Case[] = [...honest, ...attacks, ...selfDealing, ...rings, ...silencing];
