import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { api } from '@agent-network/contracts/api';
import { expect, it } from 'vitest';
import { floors } from '../../../scripts/floors.ts';
import { fromRepository } from '../src/http/documents/guides.ts';

const root = join(import.meta.dirname, '../../..');
const skipped = new Set(['node_modules', '.git', 'dist', 'screenshots', '.agent-network']);
/** `build` at the root holds what a node made to serve; rooms may have that name. */
const isSkipped = (path: string) => path === 'build' || path.split('/').some((part) => skipped.has(part));
const tree = globSync('**/*', { cwd: root, exclude: isSkipped });
const documents = tree.filter((path) => path.endsWith('.md'));
/** Every path of the repository, and each of its endings: documents name files from the package or the room that they are about. */
const endings = new Set(tree.flatMap((path) => path.split('/').map((_, index, parts) => parts.slice(index).join('/'))));
const rooms = new Set(
  globSync('*/', { cwd: join(root, 'packages/service/src') }).map((name) => name.replace(/\/$/, '')),
);

const FILE = /^[\w./-]+\.(tsx?|mjs|cjs|sql|md|sol|sh|css|ya?ml|conf)$/;
/** Made when a node or a build runs, or shown as an example. */
const NOT_IN_THE_REPOSITORY = /^(\.agent-network|dist|screenshots|deploy\/certificates)\/|\/$|^NNNN|\/NNNN-|\.N\./;

function namesAFile(text: string): boolean {
  if (text.startsWith('/') || NOT_IN_THE_REPOSITORY.test(text)) return false;
  return FILE.test(text) || (/^[\w-]+(\/[\w.-]+)+$/.test(text) && rooms.has(text.split('/')[0] ?? ''));
}

const isThere = (path: string) => [path, `${path}.ts`].some((each) => endings.has(each.replace(/^\.\//, '')));

/** The files that a document names in code spans and in blocks without a language. */
function filesNamedIn(text: string): string[] {
  const spans = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
  const folders = spans.filter((span) => /^[\w.-]+(\/[\w.-]+)*\/$/.test(span) && rooms.has(span.split('/')[0] ?? ''));
  const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].flatMap(([, language, block = '']) =>
    language === '' ? block.split(/[\s,;:()]+/) : [],
  );
  return [...spans.filter(namesAFile), ...folders.map((span) => span.slice(0, -1)), ...blocks.filter(isBareFile)];
}

const isBareFile = (word: string) => FILE.test(word);

/** What GitHub makes of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[`*[\]]|\(.*?\)(?=$)/g, '')
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-');

const anchorsOf = (text: string) => [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

/** The guides of `/docs` link to each other by their ids, to the sections of calls by their names, and to the page of errors. */
const chapters = new Set(
  documents
    .filter((document) => document.includes('/http/documents/'))
    .flatMap((document) => [...readFileSync(join(root, document), 'utf8').matchAll(/^## .* \{#(\w+)\}$/gm)])
    .map(([, id = '']) => id)
    .concat(Object.keys(fromRepository)),
);

/** Headings of chapters have the id of their chapter before their own. */
const headings = new Set(
  documents
    .filter((document) => document.includes('/http/documents/'))
    .flatMap((document) => readFileSync(join(root, document), 'utf8').split(/^## /m))
    .flatMap((chapter) => {
      const id = /\{#(\w+)\}/.exec(chapter)?.[1];
      return anchorsOf(chapter).map((anchor) => `${id}-${anchor}`);
    }),
);

function brokenLinksOf(document: string, text: string): string[] {
  const targets = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => to);
  return targets
    .filter((to) => !/^[a-z]+:/.test(to) && !to.startsWith('/'))
    .filter((to) => {
      const [path = '', anchor] = to.split('#');
      const target = path === '' ? join(root, document) : join(root, dirname(document), path);
      if (path === '' && document.includes('/http/documents/') && anchor !== undefined)
        return !(anchor in api || chapters.has(anchor) || headings.has(anchor) || anchor === 'errors');
      if (!existsSync(target) || relative(root, target).startsWith('..')) return true;
      return anchor !== undefined && !anchorsOf(readFileSync(target, 'utf8')).includes(anchor);
    });
}

it('every link of a document leads to a file of the repository, and to a heading that is there', () => {
  expect(documents).toContain('README.md');
  const broken = documents.flatMap((document) =>
    brokenLinksOf(document, readFileSync(join(root, document), 'utf8')).map((to) => `${document}: ${to}`),
  );
  expect(broken).toEqual([]);
});

const wordsOf = (text: string) => text.split(/\s+/).filter((word) => /\w/.test(word)).length;

it('documents keep to their lengths', () => {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const paths = (pattern: string) => globSync(pattern, { cwd: root });
  const decisions = paths('docs/decisions/0*.md').filter((path) => wordsOf(read(path)) > 250);
  const rooms = paths('docs/architecture/*.md').filter((path) => read(path).split('\n').length > 151);
  const entries = [...read('GLOSSARY.md').matchAll(/^\| \*\*/gm)].length;
  expect({ decisions, rooms }).toEqual({ decisions: [], rooms: [] });
  expect(wordsOf(read('README.md'))).toBeLessThanOrEqual(600);
  expect(read('ARCHITECTURE.md').split('\n').length).toBeLessThanOrEqual(121);
  expect(entries).toBeGreaterThan(20);
  expect(entries).toBeLessThanOrEqual(60);
});

it('every file and room that a document names exists', () => {
  const named = documents.map((document) => ({
    document,
    files: filesNamedIn(readFileSync(join(root, document), 'utf8')),
  }));
  expect(named.reduce((sum, { files }) => sum + files.length, 0)).toBeGreaterThan(200);
  const missing = named.flatMap(({ document, files }) =>
    files.filter((file) => !isThere(file)).map((file) => `${document}: ${file}`),
  );
  expect(missing).toEqual([]);
});

it('every document that the code cites exists', () => {
  const sources = tree.filter((path) => /^(packages|bench|examples|scripts)\/.*\.(tsx?|mjs|sql)$/.test(path));
  const cited = sources.flatMap((source) =>
    [...readFileSync(join(root, source), 'utf8').matchAll(/\bdocs\/[\w./-]+?\.md\b/g)].map(([path]) => ({
      source,
      path,
    })),
  );
  expect(cited.length).toBeGreaterThan(0);
  expect(cited.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
});

it('every section of the design and the specification that the code cites exists', () => {
  const cited = tree
    .filter((path) => /^(packages|bench|examples|scripts)\/.*\.(tsx?|mjs)$/.test(path))
    .flatMap((source) => [
      ...readFileSync(join(root, source), 'utf8').matchAll(
        /\((docs\/(?:design|spec)\.md), section (\d)(?:, "([^"]+)")?\)/g,
      ),
    ]);
  expect(cited.length).toBeGreaterThan(5);
  const missing = cited.filter(([, document = '', section, row]) => {
    const text = readFileSync(join(root, document), 'utf8');
    const part = text.split(/^## /m).find((each) => each.startsWith(`${section}.`));
    return part === undefined || (row !== undefined && !part.includes(row));
  });
  expect(missing.map(([citation]) => citation)).toEqual([]);
});

it('the tree of ARCHITECTURE has every folder of the service, and a page of docs/architecture describes each room', () => {
  const [, tree = ''] = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').match(/^```\n([\s\S]*?)^```/m) ?? [];
  const pages = globSync('docs/architecture/*.md', { cwd: root }).map((page) => readFileSync(join(root, page), 'utf8'));
  const folders = globSync('**/*.ts', { cwd: join(root, 'packages/service/src') })
    .map((path) => dirname(path).split('/'))
    .filter(([room]) => room !== '.');
  const undrawn = folders.filter(([room, ...inside]) => {
    const line = tree.split('\n').find((each) => each.includes(`── ${room}/`));
    return line === undefined || !inside.every((folder) => line.includes(`${folder}/`));
  });
  const undescribed = floors.filter(
    (room) => !/\.ts$|^(lib|config)$/.test(room) && !pages.some((page) => page.includes(`\`${room}/`)),
  );
  expect({ undrawn, undescribed }).toEqual({ undrawn: [], undescribed: [] });
});

it('every document and sample that imports the SDK says how to install it', () => {
  const samples = tree.filter((path) => /^packages\/(dashboard|contracts)\/src\/.*-(samples|snippets)\.ts$/.test(path));
  const importing = [...documents, ...samples].filter(
    // Its examples stand in the README of the SDK and in a chapter of /docs, which say so once.
    (path) =>
      !path.endsWith('sdk-examples.md') && /from '@agent-network\/sdk/.test(readFileSync(join(root, path), 'utf8')),
  );
  expect(importing.length).toBeGreaterThan(5);
  expect(importing.filter((path) => !readFileSync(join(root, path), 'utf8').includes('/sdk.tgz'))).toEqual([]);
});
