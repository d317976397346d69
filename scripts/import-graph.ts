import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';

export type Import = { line: number; specifier: string; text: string };

export type SourceFile = {
  /** From the root, with forward slashes. */
  path: string;
  text: string;
  imports: Import[];
};

const STATEMENT =
  /^[ \t]*(?:import|export)\b(?:[^'"`;]*?\bfrom)?\s*(['"])([^'"\n]+)\1|\bimport\(\s*(['"])([^'"\n]+)\3\s*\)/gm;

/** Every TypeScript file that ships: tests, which may import anything, are left out. */
export function readSourceFiles(root: string): SourceFile[] {
  return globSync('packages/*/src/**/*.{ts,tsx}', { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !/\.test\.tsx?$/.test(path))
    .sort()
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return { path, text, imports: readImports(text) };
    });
}

/** Static and dynamic imports and re-exports, types included: a type is knowledge too. */
export function readImports(source: string): Import[] {
  const code = blankComments(source);
  return [...code.matchAll(STATEMENT)].map((match) => {
    const specifier = match[2] ?? match[4] ?? '';
    const line = code.slice(0, match.index + match[0].indexOf(specifier)).split('\n').length;
    return { line, specifier, text: (source.split('\n')[line - 1] ?? '').trim() };
  });
}

/** Comments that stand on lines of their own become empty lines, so that numbers of lines hold. */
export function blankComments(source: string): string {
  return source
    .replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, (comment) => comment.replace(/[^\n]/g, ''))
    .replace(/^[ \t]*\/\/.*$/gm, '');
}

/** Where an import leads inside of the repository, or undefined for a package of others. */
export function resolveImport(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return normalize(join(dirname(from), specifier));
  const [, name, rest] = /^@agent-network\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? [];
  return name === undefined ? undefined : `packages/${name}/src/${rest ?? 'index'}.ts`;
}

/** Each ring of files that import one another, once, as the path around it. */
export function findCycles(files: SourceFile[]): string[][] {
  const targets = new Map(
    files.map(({ path, imports }) => [path, imports.map((each) => resolveImport(path, each.specifier))]),
  );
  const cycles: string[][] = [];
  const done = new Set<string>();
  const trail: string[] = [];

  function visit(path: string): void {
    const at = trail.indexOf(path);
    if (at >= 0) cycles.push([...trail.slice(at), path]);
    if (at >= 0 || done.has(path)) return;
    trail.push(path);
    for (const target of targets.get(path) ?? []) if (target !== undefined) visit(target);
    trail.pop();
    done.add(path);
  }

  for (const { path } of files) visit(path);
  return cycles;
}
