#!/usr/bin/env node
// Plain JavaScript for any Node from 20.19 on: it finds a Node that runs the rest.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const built = join(here, '../dist/main.js');
const isBuilt = existsSync(built);
const main = isBuilt ? built : join(here, '../src/main.ts');
// Sources need a Node that strips types by itself.
const needed = isBuilt ? [22, 12] : [24, 0];

const isEnough = (version) => {
  const [major, minor] = version.replace(/^v/, '').split('.').map(Number);
  return major > needed[0] || (major === needed[0] && minor >= needed[1]);
};

/** The Node that a checkout's `npm ci` brings along, in a node_modules folder above. */
function nearbyNode() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  for (let folder = here; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules/.bin', name);
    if (existsSync(candidate)) return candidate;
    if (dirname(folder) === folder) return null;
  }
}

if (isEnough(process.version)) await import(main);
else {
  const other = nearbyNode();
  const told = other && spawnSync(other, ['--version'], { encoding: 'utf8' }).stdout;
  if (!told || !isEnough(told.trim())) {
    process.stderr.write(
      `agentnet needs Node ${needed.join('.')} or newer; this is ${process.version}. Install it from https://nodejs.org.\n`,
    );
    process.exit(1);
  }
  // Ctrl-C reaches the child, too; it decides.
  process.on('SIGINT', () => {});
  const { status, signal } = spawnSync(other, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  process.exitCode = status ?? 128 + (constants.signals[signal] ?? 0);
}
