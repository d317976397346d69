import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path/posix';
import ts from 'typescript';
import { MAX_NAMED, readContexts } from './contexts.ts';

/**
 * Prints how large the rooms, files and functions of the sources are, how many interfaces use cases name as dependencies, and how many
 * doc comments open with a question word. With `--check` it prints what is over a limit instead, and exits 1 if anything is: folders of more
 * than 25 files, files of more than 300 lines, functions of more than 70, use cases that name more than 5 interfaces, 5 % of comments.
 */
const MAX_FILES = 25;
const MAX_FILE_LINES = 300;
const MAX_LINES = 70;
const MAX_SHARE = 0.05;
const QUESTION = /^(what|how|who|whose|whom|whether|where|when|which|why)\b/i;

interface Measured {
  readonly name: string;
  readonly value: number;
}

const files = execFileSync('git', ['ls-files', 'packages/*/src/**'], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path));

const functions: Measured[] = [];
const lengths: Measured[] = [];
const comments: { place: string; text: string }[] = [];
const texts = new Map<string, string>();

for (const path of files) {
  const text = readFileSync(path, 'utf8');
  texts.set(path, text);
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
  lengths.push({ name: path, value: text.split('\n').length - 1 });
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

const contexts = readContexts(texts);
const named = contexts.map(({ place, name, named }) => ({ name: `${place} ${name}`, value: named.length }));
const single = contexts.map(({ place, name, single }) => ({ name: `${place} ${name}`, value: single }));

const folders = Object.entries(Object.groupBy(files, (path) => dirname(path))).map(([name, all]) => ({
  name,
  value: all?.length ?? 0,
}));
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
  console.log(`Contexts: ${middle(named)} interfaces named`);
  console.log(`  with all groups opened: ${middle(single)} dependencies\n${largest(single, 8)}`);
  console.log(`Doc comments: ${comments.length}, ${(share * 100).toFixed(1)} % open with a question word`);
  if (process.argv.includes('--list'))
    for (const { place, text } of asked) console.log(`  ${place}  ${text.split('\n')[0]}`);
}

/** What is over a limit, a line each. */
function over(): string[] {
  const above = (all: readonly Measured[], most: number, unit: string) =>
    all.filter(({ value }) => value > most).map(({ name, value }) => `${name}: ${value} ${unit}, at most ${most}`);
  return [
    ...above(folders, MAX_FILES, 'files in a folder'),
    ...above(lengths, MAX_FILE_LINES, 'lines in a file'),
    ...above(functions, MAX_LINES, 'lines in a function'),
    ...above(named, MAX_NAMED, 'interfaces of a context'),
    ...(share > MAX_SHARE ? [`${(share * 100).toFixed(1)} % of doc comments open with a question word`] : []),
  ];
}

if (process.argv.includes('--check')) {
  const found = over();
  for (const each of found) console.error(each);
  console.log(`House: ${files.length} sources, ${found.length} over a limit`);
  if (found.length > 0 || files.length === 0) process.exitCode = 1;
} else print();
