import { readFile, writeFile } from 'node:fs/promises';
import { openApiDocument } from '../src/openapi/openapi.ts';

const file = new URL('../openapi.json', import.meta.url);
const current = `${JSON.stringify(openApiDocument(), null, 2)}\n`;

if (process.argv.includes('--check')) {
  const committed = await readFile(file, 'utf8').catch(() => '');
  if (committed !== current) {
    console.error('packages/contracts/openapi.json is out of date: run `node packages/contracts/scripts/openapi.ts`.');
    process.exitCode = 1;
  }
} else {
  await writeFile(file, current);
}
