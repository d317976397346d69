import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedFlight } from '../../lib/concurrency/single-flight.ts';

const ROOT = join(import.meta.dirname, '../../../../..');
/** Inputs of a build besides the sources. Images have neither, installations without development packages only the first. */
const SCRIPT = 'scripts/build-packages.ts';
const COMPILER = 'node_modules/@typescript/native';
const MAX_OUTPUT = 4000;

export const servedPackages = ['sdk', 'cli'] as const;
export type ServedPackage = (typeof servedPackages)[number];

/** npm packages of this release, as tarballs that `npm install <url>` takes. */
export interface PackageBuild {
  /**
   * Builds the package if it is older than the sources, once. If the build tools are missing, returns the bundled tarball, or null. Rejects
   * when the build fails.
   */
  tarball(name: ServedPackage): Promise<Uint8Array<ArrayBuffer> | null>;
}

/** Builds on first use, in a child process: most nodes are never asked. A failed build is tried again at the next request. */
export function createPackageBuild(root = ROOT): PackageBuild {
  const build = cachedFlight(Number.POSITIVE_INFINITY, () => runBuild(root));
  const canBuild = [SCRIPT, COMPILER].every((path) => existsSync(join(root, path)));
  return {
    async tarball(name) {
      const path = join(root, 'build/served', `${name}.tgz`);
      if (!canBuild) return existsSync(path) ? new Uint8Array(await readFile(path)) : null;
      await build();
      return new Uint8Array(await readFile(path));
    },
  };
}

function runBuild(root: string): Promise<void> {
  const child = spawn(process.execPath, [join(root, SCRIPT), '--served'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  });
  let output = '';
  child.stderr.on('data', (part: Buffer) => {
    output = (output + part.toString()).slice(-MAX_OUTPUT);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`ended with ${code}: ${output.trim()}`))));
  });
}
