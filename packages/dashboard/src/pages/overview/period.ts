/** Days in UTC, with today, as GET /account/overview has them. */
export const periods = [
  { id: '1', label: 'Today' },
  { id: '7', label: '7 days' },
  { id: '30', label: '30 days' },
] as const;

export type PeriodId = (typeof periods)[number]['id'];

/** Parses the period in the URL; default: 7 days. */
export const periodOf = (text: string | undefined): PeriodId => periods.find(({ id }) => id === text)?.id ?? '7';
