import { readFileSync } from 'node:fs';
import { type Abi, toEventSelector, toFunctionSelector } from 'viem';
import { expect, it } from 'vitest';
import { compileContracts } from '../scripts/compile.ts';
import { contractWalletAbi, testUsdcAbi } from './artifacts.ts';
import { multicall3Abi } from './multicall3-abi.ts';

const compiled = compileContracts();

it.each([...compiled.keys()])('the committed %s is what the sources compile to', (file) => {
  expect(readFileSync(new URL(`../artifacts/${file}`, import.meta.url), 'utf8')).toBe(compiled.get(file));
});

it.each([
  ['TestUsdc.json', testUsdcAbi],
  ['Multicall3.json', multicall3Abi],
  ['ContractWallet.json', contractWalletAbi],
] as const)('every function and event that we call by hand-written ABI is in %s', (file, handWritten) => {
  const abi = (JSON.parse(compiled.get(file) ?? '') as { abi: Abi }).abi;
  const selectors = selectorsOf(abi);
  expect(selectorsOf(handWritten).filter((selector) => !selectors.includes(selector))).toEqual([]);
  expect(selectorsOf(handWritten).length).toBeGreaterThan(0);
});

function selectorsOf(abi: Abi): string[] {
  return abi.flatMap((item) => {
    if (item.type === 'function') return [`${toFunctionSelector(item)} ${item.outputs.map((output) => output.type)}`];
    if (item.type !== 'event') return [];
    return [`${toEventSelector(item)} ${item.inputs.map((input) => Boolean(input.indexed))}`];
  });
}
