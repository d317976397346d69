import { readFile } from 'node:fs/promises';
import { alteredNumber, alteredProblem } from '@agent-network/contracts/altered-number';
import { usdcPattern } from '@agent-network/contracts/money';
import { InvalidArgumentError } from 'commander';
import { CommandError } from '../exit-codes.ts';

/** Parses an amount of USDC. */
export function usdc(text: string): string {
  if (!usdcPattern.test(text)) throw new InvalidArgumentError('Write an amount of USDC, like 0.05.');
  return text;
}

/** Parses a whole number within bounds. */
export const integer =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`Write a whole number from ${least} to ${most}.`);
    return value;
  };

/** Parses names with commas between them. */
export function listOf(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.some((name) => name === '')) throw new InvalidArgumentError('Write names with commas between them.');
  return names;
}

/** Reads an object from JSON text, or from @FILE. `isExact`: refuses numbers that would change when sent. */
export async function readObject(
  text: string | undefined,
  name: string,
  { isExact = false } = {},
): Promise<Record<string, unknown>> {
  if (text === undefined) return {};
  const source = text.startsWith('@') ? await readFile(text.slice(1), 'utf8').catch(() => null) : text;
  if (source === null) throw new CommandError(`${name}: cannot read the file ${text.slice(1)}.`);
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    throw new CommandError(`${name} is not JSON. Write an object, or @FILE.`);
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new CommandError(`${name} must be a JSON object.`);
  const altered = isExact ? alteredNumber(source) : null;
  if (altered) throw new CommandError(`${name}: ${altered.path} ${alteredProblem(altered)}.`);
  return value as Record<string, unknown>;
}

/** The text itself, or stdin for "-". */
export async function readText(text: string, { stdin }: NodeJS.Process): Promise<string> {
  if (text !== '-') return text;
  const parts: Buffer[] = [];
  for await (const part of stdin) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8').trim();
}
