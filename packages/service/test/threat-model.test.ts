import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const rows = [
  ...readFileSync(join(root, 'docs/threat-model.md'), 'utf8').matchAll(/\| ([\w.-]+\.test\.ts): "([^"|]+)" \|$/gm),
];
const tables = readFileSync(join(root, 'docs/threat-model.md'), 'utf8').match(/^\| (?!Attacker|---)/gm) ?? [];
const files = globSync('packages/*/{src,test}/**/*.test.ts', { cwd: root });

it('every row of the threat model names a test that exists', () => {
  expect(rows.length).toBe(tables.length);
  const missing = rows.filter(([, file, title = '']) => {
    const texts = files.filter((path) => basename(path) === file).map((path) => readFileSync(join(root, path), 'utf8'));
    return !texts.some((text) => text.replaceAll("\\'", "'").includes(title));
  });
  expect(missing.map(([row]) => row)).toEqual([]);
});
