import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { LocalChainError } from './local-chain-error.ts';

/** npm packages that contain anvil, by platform and architecture. */
const NPM_PACKAGES: Readonly<Record<string, string>> = {
  'linux-x64': '@foundry-rs/anvil-linux-amd64',
  'linux-arm64': '@foundry-rs/anvil-linux-arm64',
  'darwin-x64': '@foundry-rs/anvil-darwin-amd64',
  'darwin-arm64': '@foundry-rs/anvil-darwin-arm64',
  'win32-x64': '@foundry-rs/anvil-win32-amd64',
};

/**
 * Path of a runnable anvil: the one that npm installed, else the one on the PATH. When there is neither, throws `ANVIL_MISSING` with
 * installation instructions.
 */
export function findAnvil(pathVariable: string = process.env.PATH ?? ''): string {
  const candidates = [npmBinary(), ...pathVariable.split(delimiter).map((folder) => folder && join(folder, 'anvil'))];
  const found = candidates.find((file) => file && isExecutable(file));
  if (found) return found;
  throw new LocalChainError(
    'ANVIL_MISSING',
    'The local chain needs anvil. "npm ci" installs it on Linux, macOS and Windows, as an optional dependency ' +
      '(@foundry-rs/anvil-*), where the npm registry has it; elsewhere install Foundry (https://getfoundry.sh) so that "anvil" is on the PATH, ' +
      'or set CHAIN_RPC_URL and CHAIN_ID to use another chain.',
  );
}

function npmBinary(): string | undefined {
  const name = NPM_PACKAGES[`${process.platform}-${process.arch}`];
  if (name === undefined) return undefined;
  const file = process.platform === 'win32' ? 'anvil.exe' : 'anvil';
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin', file);
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
