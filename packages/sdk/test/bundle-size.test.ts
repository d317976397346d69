import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, it } from 'vitest';

const ENTRY = '\0entry';

/** A browser bundle of what is imported from the SDK. */
async function bundled(imported: string) {
  const bundle = await rolldown({
    input: ENTRY,
    platform: 'browser',
    external: [/^@x402\//, /^viem/],
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === ENTRY ? ENTRY : undefined),
        load: (id) => (id === ENTRY ? `export { ${imported} } from '@agent-network/sdk';` : undefined),
      },
    ],
    cwd: import.meta.dirname,
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  return output;
}

/** Bytes of a browser bundle, minified and compressed. */
async function bundledBytes(imported: string): Promise<number> {
  const output = await bundled(imported);
  return output.reduce((sum, part) => sum + gzipSync('code' in part ? part.code : '').length, 0);
}

it('a client without x402 takes less than 25 kB of a page', async () => {
  const bytes = await bundledBytes('createClient, invokeAndWait, verifyWebhook, ApiError');
  expect(bytes).toBeGreaterThan(2_000);
  expect(bytes).toBeLessThan(25_000);
});

it('a payer with channels needs nothing of Node', async () => {
  const imports = (await bundled('createPayer, memoryStorage, withdrawalOf')).flatMap((part) =>
    'imports' in part ? part.imports : [],
  );
  expect(imports).toContain('viem/utils');
  expect(imports.filter((name) => !/^(@x402|viem)\//.test(name))).toEqual([]);
});
