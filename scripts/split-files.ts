import { basename, dirname, join, normalize } from 'node:path/posix';
import ts from 'typescript';
import { floors, packageHomes } from './floors.ts';

/** A file that only its neighbour in the same folder imports: one cannot be understood without the other. */
export interface SplitFile {
  readonly path: string;
  readonly importer: string;
  readonly lines: number;
}

/** Lines of a file from which on it may stand apart from its only importer. */
const MIN_LINES = 60;
const SERVICE = 'packages/service/src/';
const BROWSER = 'packages/dashboard/src/';

/**
 * Finds source files of under 60 lines that only one file of the same folder imports, apart from tests, in a map of paths to texts of all
 * code. Excluded are files that code starts or loads by name, that the importer exports again or loads for their effect, that are a floor
 * of their own or of another kind than the importer (a store, a component, the home of an npm package), that would make a file of more than
 * `maxLines`, and that tests could not load any more without running a program, or without a browser.
 */
export function findSplitFiles(texts: ReadonlyMap<string, string>, maxLines: number): SplitFile[] {
  const imports = new Map([...texts].map(([path, text]) => [path, importsOf(path, text, texts)]));
  const importers = new Map<string, string[]>();
  for (const [path, all] of imports)
    for (const each of all) importers.set(each, [...(importers.get(each) ?? []), path]);
  return [...texts].flatMap(([path, text]) => {
    const lines = linesOf(text);
    const users = importers.get(path) ?? [];
    const [importer, ...others] = users.filter((each) => !isTest(each));
    if (!isSource(path) || lines >= MIN_LINES || others.length > 0) return [];
    if (importer === undefined || !isSource(importer) || dirname(importer) !== dirname(path)) return [];
    const into = texts.get(importer) ?? '';
    const isApart =
      lines + linesOf(into) > maxLines ||
      isOfAnotherKind({ path, text, importer }) ||
      (users.length > 1 && runsWhenLoaded(importer, into)) ||
      (users.length > 1 && importer.startsWith(BROWSER) && !importers.get(importer)?.some(isTest)) ||
      isOnlyLinked(path, into) ||
      isNamed(path, texts);
    return isApart ? [] : [{ path, importer, lines }];
  });
}

export const linesOf = (text: string): number => text.split('\n').length - 1;
export const isTest = (path: string): boolean => /\.test\.tsx?$|^packages\/[^/]+\/test\//.test(path);
export const isSource = (path: string): boolean => /^packages\/[^/]+\/src\/.*\.tsx?$/.test(path) && !isTest(path);

/** Files that a file imports, each once. */
function importsOf(path: string, text: string, texts: ReadonlyMap<string, string>): Set<string> {
  const { importedFiles } = ts.preProcessFile(text, true, true);
  return new Set(importedFiles.flatMap(({ fileName }) => fileOf(path, fileName, texts) ?? []));
}

function fileOf(from: string, specifier: string, texts: ReadonlyMap<string, string>): string | undefined {
  const ours = /^@agent-network\/([\w-]+)\/(.+)$/.exec(specifier);
  const path = ours ? `packages/${ours[1]}/src/${ours[2]}` : normalize(join(dirname(from), specifier));
  return ours || specifier.startsWith('.')
    ? [path, `${path}.ts`, `${path}.tsx`].find((each) => texts.has(each))
    : undefined;
}

function isOfAnotherKind({ path, text, importer }: { path: string; text: string; importer: string }): boolean {
  const place = path.replace(SERVICE, '');
  const foreign = packageHomes.filter(({ homes }) => !homes.some((home) => importer.match(`^${SERVICE}${home}`)));
  const isAtHome = !importer.startsWith(SERVICE) || !foreign.some(({ packages }) => importsAny(text, packages));
  const isStoreApart = path.endsWith('-store.ts') && !importer.endsWith('-store.ts');
  return floors.includes(place) || isStoreApart || !isAtHome || (path.endsWith('x') && !importer.endsWith('x'));
}

const importsAny = (text: string, packages: readonly string[]): boolean =>
  ts
    .preProcessFile(text, true, true)
    .importedFiles.some(({ fileName }) => packages.some((name) => `${fileName}/`.startsWith(`${name}/`)));

/** True for a program: a statement of it stands alone. */
const runsWhenLoaded = (path: string, text: string): boolean =>
  ts.createSourceFile(path, text, ts.ScriptTarget.Latest).statements.some(ts.isExpressionStatement);

/** True for a file that is exported again, or imported for its effect. */
const isOnlyLinked = (path: string, importer: string): boolean =>
  new RegExp(`^\\s*(export [^;]* from|import) '\\./${escaped(basename(path))}'`, 'm').test(importer);

const escaped = (name: string): string => name.replaceAll('.', '\\.');

/** True for a file that code names in a string: a worker, a program, or a module that is loaded on demand. */
function isNamed(path: string, texts: ReadonlyMap<string, string>): boolean {
  const string = new RegExp(`(?<!\\b(?:from|import) )(['"\`])(?:[\\w./-]*/)?${escaped(basename(path))}\\1`);
  return [...texts].some(
    ([each, text]) =>
      string.test(text) &&
      (dirname(each) === dirname(path) || text.includes(`${basename(dirname(path))}/${basename(path)}`)),
  );
}
