import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startAnvil } from './anvil-process.ts';
import { callChain } from './chain-rpc-client.ts';
import { findAnvil } from './find-anvil.ts';

/** An anvil that ends like this when it is first started. */
async function anvilThatFirst(says: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'anvil-process-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [path, ran] = [join(folder, 'anvil'), join(folder, 'ran')];
  await writeFile(
    path,
    `#!/bin/sh\n[ -e '${ran}' ] || { : >'${ran}'; echo '${says}' >&2; exit 1; }\nexec '${findAnvil()}' "$@"\n`,
  );
  await chmod(path, 0o755);
  return path;
}
const TAKEN = 'Error: Address already in use (os error 98)';

it('takes another port when the one that it chose is taken before it listens', async () => {
  const anvil = await startAnvil(await anvilThatFirst(TAKEN), ['--no-mining']);
  onTestFinished(() => anvil.stop());
  expect(Number(await callChain(anvil.rpcUrl, 'eth_chainId'))).toBe(84532);
});

it.each([
  ['a wanted port that is taken', TAKEN, { port: 1 }],
  ['anything else', 'Error: no such state', {}],
])('fails at once for %s, with what anvil says', async (_what, says, options) => {
  await expect(startAnvil(await anvilThatFirst(says), ['--no-mining'], options)).rejects.toMatchObject({
    code: 'ANVIL_FAILED',
    message: expect.stringContaining(says),
  });
});
