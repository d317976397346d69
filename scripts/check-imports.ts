import { join } from 'node:path';
import { findCycles, readSourceFiles } from './import-graph.ts';
import { checkFile, type Violation } from './import-rules.ts';

/** Every import and line under packages/ that breaks the order of DESIGN section 3. Empty when all is well. */
export function checkImports(root: string): { fileCount: number; violations: Violation[] } {
  const files = readSourceFiles(root);
  const cycles = findCycles(files).map((cycle) => ({
    path: cycle[0] ?? '',
    line: 1,
    text: cycle.join(' -> '),
    rule: 'files never import one another in a ring',
  }));
  return { fileCount: files.length, violations: [...files.flatMap(checkFile), ...cycles] };
}

export function formatViolation({ path, line, text, rule }: Violation): string {
  return `${path}:${line}  ${rule}\n    ${text}`;
}

if (import.meta.main) {
  const { fileCount, violations } = checkImports(join(import.meta.dirname, '..'));
  for (const violation of violations) console.error(formatViolation(violation));
  console.log(`Imports: ${fileCount} files, ${violations.length} against the rules`);
  if (violations.length > 0 || fileCount === 0) process.exitCode = 1;
}
