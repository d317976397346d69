import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { LocalChainError } from './local-chain-error.ts';

const NPM_PACKAGE = '@foundry-rs/anvil-linux-amd64';

/**
 * The path of an anvil that can be started: the one that npm installed, else the one on the PATH.
 * Throws `ANVIL_MISSING`, saying what to install, when there is neither.
 */
export function findAnvil(pathVariable: string = process.env.PATH ?? ''): string {
  const candidates = [npmBinary(), ...pathVariable.split(delimiter).map((folder) => folder && join(folder, 'anvil'))];
  const found = candidates.find((file) => file && isExecutable(file));
  if (found) return found;
  throw new LocalChainError(
    'ANVIL_MISSING',
    `The local chain needs anvil. On Linux x64 "npm ci" installs it (optional dependency ${NPM_PACKAGE}); ` +
      'elsewhere install Foundry (https://getfoundry.sh) so that "anvil" is on the PATH, ' +
      'or set CHAIN_RPC_URL and CHAIN_ID to use another chain.',
  );
}

function npmBinary(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${NPM_PACKAGE}/package.json`)), 'bin', 'anvil');
  } catch {
    return undefined;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
