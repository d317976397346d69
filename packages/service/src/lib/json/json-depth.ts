const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** True if lists and objects are nested more than `levels` deep. Walks level by level, so no depth can exhaust the stack. */
export function isDeeperThan(root: unknown, levels: number): boolean {
  let level = [root].filter(isContainer);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((value) => Object.values(value).filter(isContainer));
  }
  return false;
}
