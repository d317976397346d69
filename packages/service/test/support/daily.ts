import { isLong } from './long.ts';

const DAY_MS = 86_400_000;

/** Days since 1970, by which the cells of a matrix take turns; a run of another day is repeated by `DAY=20421 npm test`. */
export const day = Number(process.env.DAY ?? Math.floor(Date.now() / DAY_MS));

/**
 * The cells of a matrix that `npm test` tries today, as each costs a process: in every row, one in `parts`, so that all have been tried
 * after as many days. `npm run test:long` tries all.
 */
export function ofTheDay<T>(cells: readonly T[], rowOf: (cell: T) => unknown = () => null, parts = 3): T[] {
  if (isLong) return [...cells];
  const rows = Map.groupBy(cells, rowOf);
  const today = (row: readonly T[]) => row.filter((_, index) => (index + day) % Math.min(parts, row.length) === 0);
  const chosen = new Set([...rows.values()].flatMap(today));
  return cells.filter((cell) => chosen.has(cell));
}
