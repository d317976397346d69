import { expect, it } from 'vitest';
import { backOffMs, strikeSubjects } from './payer-status.ts';

const minutes = (kind: 'wallet' | 'account' | 'client', most: number) =>
  Array.from({ length: most }, (_, index) => backOffMs(kind, index + 1) / 60_000);

it('a wallet is refused from the first payment that moves nothing, for longer each time, a day at most', () => {
  expect(minutes('wallet', 8)).toEqual([0.5, 2, 10, 60, 360, 1440, 1440, 1440]);
});

it('an account and a network address may have some first', () => {
  expect(minutes('account', 5)).toEqual([0, 0, 0.5, 2, 10]);
  expect(minutes('client', 11)).toEqual([...Array(9).fill(0), 0.5, 2]);
});

it('a payment counts against its wallet, and against account and address where they are known', () => {
  const authorization = { from: '0xa' } as never;
  const subjects = (accountId: string | null, client: string | null) =>
    strikeSubjects({ authorization, accountId, client }).map(({ subject }) => subject);
  expect(subjects('acc_1', '192.0.2.1')).toEqual(['wallet:0xa', 'account:acc_1', 'client:192.0.2.1']);
  expect(subjects(null, '2001:db8:1:2:3:4:5:6')).toEqual(['wallet:0xa', 'client:2001:db8:1:2::/64']);
  expect(subjects(null, null)).toEqual(['wallet:0xa']);
  expect(subjects(null, '127.0.0.1')).toEqual(['wallet:0xa']);
});
