import { execFile } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const repository = join(import.meta.dirname, '../../../../..');
const run = promisify(execFile);

/** The code blocks of a chapter of /docs, by language, in order. */
export function snippetsOf(chapter: string, language: string): string[] {
  const text = readFileSync(join(repository, 'packages/service/src/http/documents', chapter), 'utf8');
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm)].flatMap(([, name, code]) =>
    name === language && code ? [code] : [],
  );
}

/** Puts real values into the place of those that a reader replaces. Throws when the snippet has none of them. */
export const filled = (snippet: string, values: Readonly<Record<string, string>>): string =>
  Object.entries(values).reduce((text, [name, value]) => {
    if (!text.includes(name)) throw new Error(`the snippet has no ${name}`);
    return text.replaceAll(name, value);
  }, snippet);

/** Runs a JavaScript snippet as its reader would, with the packages of this repository; returns its output. */
export async function runSnippet(folder: string, code: string): Promise<string> {
  const modules = join(folder, 'node_modules');
  if (!existsSync(modules)) symlinkSync(join(repository, 'node_modules'), modules);
  const file = join(folder, 'snippet.mjs');
  writeFileSync(file, code);
  const { stdout } = await run(process.execPath, ['--no-warnings', file], { cwd: folder, timeout: 150_000 });
  return stdout.trim();
}
