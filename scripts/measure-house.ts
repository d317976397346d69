import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path/posix';
import ts from 'typescript';
import { floors } from './floors.ts';
import { findSplitFiles, isSource, isTest, linesOf } from './split-files.ts';

/**
 * Prints files and lines of each package, how large folders, files and functions are, rooms and floors of the service, what its composition
 * root creates, dependencies, and how many doc comments open with a question word. With `--check` it prints what is over a limit instead, and
 * exits 1 if anything is: folders of more than 25 files, files of more than 500 lines, functions of more than 70, small files that only their
 * neighbour imports, doc comments that open with a question word.
 */
const MAX_FILES = 25;
const MAX_FILE_LINES = 500;
const MAX_LINES = 70;
const SERVICE = 'packages/service/src/';
const QUESTION = /^(what|how|who|whose|whom|whether|where|when|which|why)\b/i;

interface Measured {
  readonly name: string;
  readonly value: number;
}

const listed = execFileSync('git', ['ls-files'], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && existsSync(path));
const texts = new Map(
  listed.filter((path) => /\.(tsx?|mjs|cjs|js)$/.test(path)).map((path) => [path, readFileSync(path, 'utf8')]),
);
const files = [...texts.keys()].filter(isSource);

const functions: Measured[] = [];
const lengths: Measured[] = [];
const comments: { place: string; text: string }[] = [];

for (const path of files) {
  const text = texts.get(path) ?? '';
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
  lengths.push({ name: path, value: linesOf(text) });
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const start = lineOf(node.getStart(source));
      functions.push({ name: `${path}:${start}`, value: lineOf(node.end) - start + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  for (const match of text.matchAll(/\/\*\*([\s\S]*?)\*\//g))
    comments.push({
      place: `${path}:${lineOf(match.index)}`,
      text: (match[1] ?? '').replace(/^\s*\*? ?/gm, '').trim(),
    });
}

const folders = Object.entries(Object.groupBy(files, (path) => dirname(path))).map(([name, all]) => ({
  name,
  value: all?.length ?? 0,
}));
const splits = findSplitFiles(texts, MAX_FILE_LINES);
const asked = comments.filter(({ text }) => QUESTION.test(text));
const share = asked.length / comments.length;

const percentile = (all: readonly Measured[], p: number): number =>
  all.map(({ value }) => value).toSorted((a, b) => a - b)[Math.floor((all.length - 1) * p)] ?? 0;
const largest = (all: readonly Measured[], most: number): string =>
  all
    .toSorted((a, b) => b.value - a.value)
    .slice(0, most)
    .map(({ name, value }) => `  ${String(value).padStart(5)}  ${name}`)
    .join('\n');
const middle = (all: readonly Measured[]): string =>
  `${all.length}, p50 ${percentile(all, 0.5)}, p90 ${percentile(all, 0.9)}, most ${percentile(all, 1)}`;

function print(): void {
  console.log(`Folders: ${middle(folders)} files each\n${largest(folders, 8)}`);
  console.log(`Files: ${middle(lengths)} lines\n${largest(lengths, 8)}`);
  console.log(`Functions: ${middle(functions)} lines\n${largest(functions, 8)}`);
  console.log(`Split files: ${splits.length}`);
  for (const { path, importer } of splits) console.log(`  ${path} -> ${basename(importer)}`);
  printPackages();
  printService();
  console.log(`Doc comments: ${comments.length}, ${(share * 100).toFixed(1)} % open with a question word`);
  if (process.argv.includes('--list'))
    for (const { place, text } of asked) console.log(`  ${place}  ${text.split('\n')[0]}`);
}

function printPackages(): void {
  const lineSum = (paths: readonly string[]) => paths.reduce((sum, path) => sum + linesOf(texts.get(path) ?? ''), 0);
  const packageOf = (path: string) => path.split('/')[1] ?? '';
  const tests = [...texts.keys()].filter((path) => path.startsWith('packages/') && isTest(path));
  console.log(`Packages: ${files.length} files, ${lineSum(files)} lines; tests: ${tests.length}, ${lineSum(tests)}`);
  for (const [name, all = []] of Object.entries(Object.groupBy(files, packageOf))) {
    const own = tests.filter((path) => packageOf(path) === name);
    console.log(`  ${name}: ${all.length} files, ${lineSum(all)} lines; tests: ${own.length}, ${lineSum(own)}`);
  }
  const manifests = listed.filter((path) => /(^|\/)package\.json$/.test(path));
  const dependencies = (kind: 'dependencies' | 'devDependencies') =>
    new Set(
      manifests
        .flatMap((path) => Object.keys(JSON.parse(readFileSync(path, 'utf8'))[kind] ?? {}))
        .filter((name) => !name.startsWith('@agent-network/')),
    ).size;
  console.log(`Dependencies: ${dependencies('dependencies')}, for development ${dependencies('devDependencies')}`);
}

function printService(): void {
  const places = folders.filter(({ name }) => name.startsWith(SERVICE)).map(({ name }) => name.slice(SERVICE.length));
  const rooms = new Set(places.map((place) => place.split('/')[0]));
  const roots = files.filter((path) => /^packages\/service\/src\/(compose\/)?context[\w-]*\.ts$/.test(path));
  const created = roots.flatMap((path) => [...(texts.get(path) ?? '').matchAll(/\bcreate[A-Z]\w*(?=\()/g)]);
  const names = new Set(created.map(([name]) => name));
  console.log(`Service: ${rooms.size} rooms, ${places.length} folders, ${floors.length} floors`);
  console.log(`  the composition root creates ${names.size} things (createX)`);
}

/** Everything over a limit, one line each. */
function over(): string[] {
  const above = (all: readonly Measured[], most: number, unit: string) =>
    all.filter(({ value }) => value > most).map(({ name, value }) => `${name}: ${value} ${unit}, at most ${most}`);
  return [
    ...above(folders, MAX_FILES, 'files in a folder'),
    ...above(lengths, MAX_FILE_LINES, 'lines in a file'),
    ...above(functions, MAX_LINES, 'lines in a function'),
    ...splits.map(({ path, importer, lines }) => `${path}: ${lines} lines that only ${basename(importer)} imports`),
    ...asked.map(({ place }) => `${place}: a doc comment that opens with a question word`),
  ];
}

if (process.argv.includes('--check')) {
  const found = over();
  for (const each of found) console.error(each);
  console.log(`House: ${files.length} sources, ${found.length} over a limit`);
  if (found.length > 0 || files.length === 0) process.exitCode = 1;
} else print();
