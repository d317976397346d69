import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { formatUsdc, type Micro, parseUsdc } from '@agent-network/contracts/money';

type Day = DataOf<Api['getUsage']>['days'][number];

export const periods = ['7', '30', '90'] as const;
export type Period = (typeof periods)[number];

export const readPeriod = (text: string | undefined): Period => periods.find((each) => each === text) ?? '30';

/** The days added up, to the last micro-USDC. */
export function sumDays(days: readonly Day[]) {
  const count = (pick: (day: Day) => number) => days.reduce((sum, day) => sum + pick(day), 0);
  const money = (pick: (day: Day) => string) =>
    formatUsdc(days.reduce<Micro>((sum, day) => sum + parseUsdc(pick(day)), 0n));
  return {
    requests: count(({ requests }) => requests),
    completed: count(({ completed }) => completed),
    failed: count(({ failed }) => failed),
    spent: money(({ spent }) => spent),
    earned: money(({ earned }) => earned),
  };
}
