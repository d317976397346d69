import { readFile, writeFile } from 'node:fs/promises';
import { openApiDocument } from '../src/openapi/openapi.ts';
import { wireTables } from './wire-tables.ts';

/** The files that are made from the endpoint table. */
const made: Readonly<Record<string, string>> = {
  '../openapi.json': `${JSON.stringify(openApiDocument(), null, 2)}\n`,
  '../src/wire.generated.ts': wireTables(),
};

for (const [path, current] of Object.entries(made)) {
  const file = new URL(path, import.meta.url);
  if (!process.argv.includes('--check')) await writeFile(file, current);
  else if ((await readFile(file, 'utf8').catch(() => '')) !== current) {
    console.error(
      `packages/contracts/${path.slice('../'.length)} is out of date: run \`node packages/contracts/scripts/openapi.ts\`.`,
    );
    process.exitCode = 1;
  }
}
