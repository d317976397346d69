import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { rolldown } from 'rolldown';
import { inject } from 'vitest';
import { withClient } from './kept-connections.ts';

/** Folder for bundles, inside the workspace, so that packages outside of the bundle are found. Node.js's compile cache is there, too. */
export const BUNDLES = join(import.meta.dirname, '../../../../node_modules/.cache/agent-network');

/** Native, or not installed, or large and only loaded by somebody else's settings. */
const external = [/^secp256k1/, /^pg-native/, /^typescript$/];

/** Time in which a process that has started does some work. */
const KEEPS_AFTER_MS = 1000;

const BUNDLES_LOCK = 7_261_386;

const ROOT = join(import.meta.dirname, '../../../..');
/** Files that determine module resolution and the bundling. */
const resolvedBy = [
  import.meta.filename,
  ...['package-lock.json', 'node_modules/.package-lock.json', 'tsconfig.json'].map((name) => join(ROOT, name)),
  ...['chain', 'contracts', 'service'].map((name) => join(ROOT, 'packages', name, 'package.json')),
];

const made = new Map<string, Promise<string>>();

/**
 * One file with everything that a child process of tests runs: loading 1,600 modules takes it a second of processor time, loading one
 * with its compiled functions a fifth of that. Made once, by one worker for all, until a file of it changes.
 */
export function bundled(path: string): Promise<string> {
  const known = made.get(path) ?? oneByOne(() => keptBundle(path));
  made.set(path, known);
  return known;
}

/** Making a bundle takes three seconds of processor time: the workers of a run wait for the one that makes it. */
async function oneByOne<T>(work: () => Promise<T>): Promise<T> {
  // A long run of its own, which has one process.
  if (!process.env.VITEST) return work();
  return withClient(inject('postgresAdminUrl'), async (admin) => {
    await admin.query('select pg_advisory_lock($1)', [BUNDLES_LOCK]);
    try {
      return await work();
    } finally {
      await admin.query('select pg_advisory_unlock($1)', [BUNDLES_LOCK]);
    }
  });
}

interface Note {
  readonly file: string;
  /** All inputs of the bundle, with their size and time of change. */
  readonly made: Readonly<Record<string, string>>;
}

async function keptBundle(path: string): Promise<string> {
  const place = `${createHash('sha256').update(path).digest('hex').slice(0, 16)}.json`;
  const note = await readFile(join(BUNDLES, place), 'utf8').then(
    (text) => JSON.parse(text) as Note,
    () => null,
  );
  if (note && existsSync(note.file) && isDeepStrictEqual(await looksOf(Object.keys(note.made)), note.made))
    return note.file;
  const startMs = Date.now();
  const { file, paths } = await bundle(path);
  const looks = await looksOf([...paths, ...resolvedBy]);
  // What changed meanwhile may be in it as it was before.
  const isSure = Object.values(looks).every((look) => Number.parseFloat(look) < startMs);
  if (isSure) await put(place, JSON.stringify({ file, made: looks } satisfies Note));
  return file;
}

/** Time of last change, which can't be set back, and size of each file. */
async function looksOf(paths: readonly string[]): Promise<Record<string, string>> {
  const look = async (path: string) => {
    const found = await stat(path).catch(() => null);
    return [path, found ? `${found.ctimeMs} ${found.size}` : 'absent'] as const;
  };
  return Object.fromEntries(await Promise.all(paths.map(look)));
}

async function bundle(path: string): Promise<{ file: string; paths: string[] }> {
  const build = await rolldown({ input: path, platform: 'node', external, plugins: [keepPlaces] });
  const { output } = await build.generate({ format: 'esm', codeSplitting: false, comments: false });
  const code = asFunction(output[0].code);
  const name = createHash('sha256').update(code).update(loader('')).digest('hex').slice(0, 16);
  await mkdir(BUNDLES, { recursive: true });
  await put(`${name}.code`, code);
  // Those too of which nothing is in it: they say what others are.
  const paths = (await build.watchFiles).filter((id) => isAbsolute(id));
  return { file: await put(`${name}.mjs`, loader(name)), paths };
}

/** Another run may be making the same file. */
async function put(name: string, text: string): Promise<string> {
  const file = join(BUNDLES, name);
  await writeFile(`${file}.${process.pid}`, text);
  await rename(`${file}.${process.pid}`, file);
  return file;
}

/** Modules find the files beside them where they were written, not beside the bundle. */
const keepPlaces = {
  name: 'keep-places',
  transform(code: string, id: string) {
    if (id.includes('node_modules') || !code.includes('import.meta')) return null;
    return code
      .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
      .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)));
  },
};

/**
 * Node.js keeps of a module what was compiled before it ran, of a script what has been compiled by then, too. ASCII, as a text with other
 * characters takes twice the memory and has to be decoded.
 */
const asFunction = (code: string): string =>
  `(async (require, importMeta, __filename, __dirname) => {${code
    .replace(/^import (.+) from ("[^"]+");$/gm, (_, names: string, from: string) => requireOf(names, from))
    .replace(/^export \{\};$/m, '')
    .replaceAll('import.meta', 'importMeta')
    .replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n})`;

function requireOf(names: string, from: string): string {
  const [, alone, all, some] = /^([\w$]+)?(?:, )?(?:\* as ([\w$]+))?(\{.*\})?$/.exec(names) ?? [];
  const targets = [alone, all, some?.replaceAll(' as ', ': ')].filter((target) => target !== undefined);
  return targets.map((target) => `const ${target} = require(${from});`).join(' ');
}

/** Runs the program; the first process that lives for a while keeps its compiled functions for all others. */
const loader = (name: string): string => `import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants, Script } from 'node:vm';

const place = (suffix) => import.meta.dirname + '/${name}' + suffix;
const read = (file, encoding) => {
  try {
    return readFileSync(file, encoding);
  } catch {
    return undefined;
  }
};
const script = new Script(readFileSync(place('.code'), 'latin1'), {
  filename: place('.code'),
  cachedData: read(place('.compiled')),
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});
await script.runInThisContext()(createRequire(import.meta.url), import.meta, import.meta.filename, import.meta.dirname);
if (script.cachedDataRejected !== false) {
  const keep = () => {
    const kept = place('.compiled.' + process.pid);
    try {
      writeFileSync(kept, script.createCachedData());
      renameSync(kept, place('.compiled'));
    } catch {
      // Another user's process.
    }
  };
  setTimeout(keep, ${KEEPS_AFTER_MS}).unref();
}
`;
