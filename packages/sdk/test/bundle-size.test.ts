import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, it } from 'vitest';

const ENTRY = '\0entry';

/** Bytes of a browser bundle, minified and compressed, of what is imported from the SDK. */
async function bundledBytes(imported: string): Promise<number> {
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
  return output.reduce((sum, part) => sum + gzipSync('code' in part ? part.code : '').length, 0);
}

it('a client without x402 takes less than 25 kB of a page', async () => {
  const bytes = await bundledBytes('createClient, invokeAndWait, verifyWebhook, ApiError');
  expect(bytes).toBeGreaterThan(2_000);
  expect(bytes).toBeLessThan(25_000);
});
