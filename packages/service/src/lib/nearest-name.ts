const MAX_EDITS = 2;

/** The known name that a misspelt one is most like: the same but for case and dashes, or within two edits. Null: none is. */
export function nearestName(name: string, known: readonly string[]): string | null {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[_-]/g, '');
  const same = known.find((each) => plain(each) === plain(name));
  if (same !== undefined || name.length > 64) return same ?? null;
  const ranked = known
    .map((each) => ({ each, edits: editsBetween(plain(name), plain(each)) }))
    .filter(({ each, edits }) => edits <= Math.min(MAX_EDITS, Math.floor(each.length / 3)))
    .sort((a, b) => a.edits - b.edits);
  return ranked[0]?.each ?? null;
}

/** Characters to insert, delete or replace (Levenshtein). */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (let at = 1; at <= to.length; at++) {
      const replaced = (row[at - 1] ?? 0) + (letter === to[at - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
