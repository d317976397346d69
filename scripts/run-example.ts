import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

// Runs one of examples/*.ts against the node that `npm start` started: npm run example -- NAME
const folder = join(import.meta.dirname, '..', 'examples');
const names = readdirSync(folder).flatMap(
  (file) => /^((?:call|find|pay|invoke|run|stream|receive)-[\w-]+)\.ts$/.exec(file)?.[1] ?? [],
);
const name = process.argv[2] ?? '';
if (!names.includes(name)) {
  console.error(`Name one of: ${names.join(', ')}`);
  process.exitCode = 2;
} else {
  const child = spawn(process.execPath, [join(folder, `${name}.ts`)], { stdio: 'inherit' });
  child.once('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}
