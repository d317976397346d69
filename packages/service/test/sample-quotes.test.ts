import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const isSource = (path: string) => /\.(tsx?|m?js|md|py|sh|go)$/.test(path) && !/\.(test|generated)\.tsx?$/.test(path);
const sources = execFileSync('git', ['ls-files', 'packages', 'docs', 'examples', 'README.md'], { cwd: root })
  .toString()
  .split('\n')
  .filter(isSource);

/** A shell takes a variable between single quotes as it is written: the node would get the name in place of the key. */
const QUOTED = /'[^'"`\n]*\$(?:AGENT_NETWORK_KEY|KEY)\b[^'"`\n]*'/;

it('no sample of the dashboard, the documents, the pages or the command line has its key between single quotes', () => {
  const broken = sources.flatMap((path) =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .flatMap((line, at) => (QUOTED.test(line) ? [`${path}:${at + 1}  ${line.trim()}`] : [])),
  );
  expect(sources.length).toBeGreaterThan(500);
  expect(broken).toEqual([]);
});
