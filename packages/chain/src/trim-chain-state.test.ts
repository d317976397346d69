import { expect, it } from 'vitest';
import { trimChainState } from './local-chain.ts';

type Dump = { best_block_number: number; blocks: { header: { number: string }; transactions: string[] }[] };

/** A dump of 100 blocks in which every tenth has one transaction. */
const numbers = Array.from({ length: 100 }, (_, number) => number);
const dump = JSON.stringify({
  accounts: { '0x01': { nonce: 7, balance: '0xffffffffffffffffffffffffffffffff' } },
  best_block_number: 99,
  blocks: numbers.map((number) => ({
    header: { number: `0x${number.toString(16)}` },
    transactions: number % 10 === 5 ? [`tx${number}`] : [],
  })),
  transactions: numbers.filter((number) => number % 10 === 5).map((number) => ({ block_number: number })),
});

function blockNumbers(text: string): number[] {
  return (JSON.parse(text) as Dump).blocks.map(({ header }) => Number(header.number));
}

it('keeps the first block, the newest ones and those with transactions; drops the other empty ones', () => {
  const trimmed = trimChainState(dump, { blocks: 3, transactions: 100 });
  expect(blockNumbers(trimmed)).toEqual([0, 5, 15, 25, 35, 45, 55, 65, 75, 85, 95, 97, 98, 99]);
  expect(JSON.parse(trimmed)).toMatchObject({ accounts: JSON.parse(dump).accounts, best_block_number: 99 });
});

it('drops the oldest transactions, with their blocks', () => {
  const trimmed = trimChainState(dump, { blocks: 3, transactions: 2 });
  expect(blockNumbers(trimmed)).toEqual([0, 85, 95, 97, 98, 99]);
  expect(JSON.parse(trimmed).transactions).toEqual([{ block_number: 85 }, { block_number: 95 }]);
});

it('a short chain, and one with numbers that JavaScript would round, come back unchanged', () => {
  expect(trimChainState(dump, { blocks: 100, transactions: 2 })).toBe(dump);
  const exact = dump.replace('"nonce":7', '"nonce":18446744073709551615');
  expect(trimChainState(exact, { blocks: 3, transactions: 2 })).toBe(exact);
});
