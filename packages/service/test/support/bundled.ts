import { createHash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

/** Inside the workspace, so that packages that stay outside the bundle are found. Also where Node.js keeps what it made of bundles. */
export const BUNDLES = join(import.meta.dirname, '../../../../node_modules/.cache/agent-network');

/**
 * Native, or loading files by their place. OpenTelemetry is in the bundle: the node loads it only where traces are on, and an import of what
 * is outside one file would run at its start.
 */
const external = [/^secp256k1/, /^graphile-worker/, /^pg-native/, /^pino/];

const made = new Map<string, Promise<string>>();

/**
 * One file with everything that a child process of tests runs: loading 1,600 modules takes it a second of processor time, loading one
 * a third of that. Made once by each worker.
 */
export function bundled(path: string): Promise<string> {
  const known = made.get(path) ?? bundle(path);
  made.set(path, known);
  return known;
}

async function bundle(path: string): Promise<string> {
  const build = await rolldown({ input: path, platform: 'node', external, plugins: [keepPlaces] });
  const { output } = await build.generate({ format: 'esm', codeSplitting: false });
  const { code } = output[0];
  const name = createHash('sha256').update(code).digest('hex').slice(0, 16);
  const file = join(BUNDLES, `${name}.mjs`);
  await mkdir(BUNDLES, { recursive: true });
  await writeFile(`${file}.${process.pid}`, code);
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
