import { globSync, readFileSync } from 'node:fs';
import { MAX_NAMED, readContexts } from './contexts.ts';

/** Exits 1 when an exported function of the service, or a group of dependencies, names more than `MAX_NAMED` interfaces. */
const paths = globSync('packages/service/src/**/*.ts').filter((path) => !path.endsWith('.test.ts'));
const contexts = readContexts(new Map(paths.map((path) => [path.replaceAll('\\', '/'), readFileSync(path, 'utf8')])));
const over = contexts.filter(({ named }) => named.length > MAX_NAMED);
for (const { place, name, named } of over)
  console.error(`${place}  ${name} names ${named.length}: ${named.join(', ')}`);
console.log(`Contexts: ${contexts.length} functions and groups, ${over.length} name more than ${MAX_NAMED} interfaces`);
if (over.length > 0 || contexts.length === 0) process.exitCode = 1;
