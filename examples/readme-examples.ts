import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { firstWallet, type Local } from './local.ts';

const root = join(import.meta.dirname, '..');

/** The code of the SDK's README by the heading that it stands under. */
export function readmeExamples(): Readonly<Record<string, string>> {
  const readme = readFileSync(join(root, 'packages/sdk/README.md'), 'utf8');
  const blocks = readme.matchAll(/^### (.+)\n(?:(?!^#)[\s\S])*?^```ts\n([\s\S]*?)^```$/gm);
  return Object.fromEntries([...blocks].map(([, title = '', code = '']) => [title, code]));
}

/** Runs code as a program of its own, in a folder of its own, and resolves to its output. Stops programs that serve. */
export async function runReadmeExample(local: Local, code: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'readme-example-'));
  try {
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'example.ts'), code);
    const env = {
      ...process.env,
      AGENT_NETWORK_URL: local.baseUrl,
      AGENT_NETWORK_KEY: local.apiKey,
      WALLET_PRIVATE_KEY: firstWallet(local).privateKey,
      NO_COLOR: '1',
    };
    const child = spawn(process.execPath, ['example.ts'], { cwd: folder, env });
    if (code.includes("'SIGTERM'")) child.stdout.once('data', () => child.kill('SIGTERM'));
    const [printed, complaints, [exitCode]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    if (exitCode !== 0) throw new Error(`the example ended with ${exitCode}: ${complaints}`);
    return printed.trim();
  } finally {
    await rm(folder, { recursive: true });
  }
}
