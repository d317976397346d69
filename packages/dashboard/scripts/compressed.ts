import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);
const COMPRESSIBLE = /\.(html|js|css|svg|json)$/;

async function compressFile(path: string): Promise<void> {
  const bytes = await readFile(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  await writeFile(`${path}.br`, await toBrotli(bytes, { params }));
  await writeFile(`${path}.gz`, await toGzip(bytes, { level: 9 }));
}

/** Writes `.br` and `.gz` beside every file of the build that is text, so that serving compresses nothing. */
export function compressed(): Plugin {
  let outDir = '';
  return {
    name: 'compressed',
    apply: 'build',
    configResolved: (config) => {
      outDir = join(config.root, config.build.outDir);
      if (config.build.outDir.startsWith('/')) outDir = config.build.outDir;
    },
    async closeBundle() {
      const names = await readdir(outDir, { recursive: true });
      await Promise.all(
        names.filter((name) => COMPRESSIBLE.test(name)).map((name) => compressFile(join(outDir, name))),
      );
    },
  };
}
