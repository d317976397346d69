import { globSync, readFileSync } from 'node:fs';
import { content } from './floors.ts';

const SERVICE = 'packages/service/src/';

/** Returns the lines of a service file that break a rule of `content` in floors.ts, as `place:line  rule`. */
export function checkContent(place: string, text: string): string[] {
  const code = blankComments(text);
  return content
    .filter(({ homes }) => !homes.test(place))
    .flatMap(({ pattern, rule }) =>
      [...code.matchAll(pattern)].map(({ index }) => `${place}:${code.slice(0, index).split('\n').length}  ${rule}`),
    );
}

/** Blanks comment lines and keeps line numbers. */
const blankComments = (source: string): string =>
  source
    .replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, (comment) => comment.replace(/[^\n]/g, ''))
    .replace(/^[ \t]*\/\/.*$/gm, '');

if (import.meta.main) {
  const files = globSync(`${SERVICE}**/*.ts`).filter((path) => !path.endsWith('.test.ts'));
  const broken = files.flatMap((path) =>
    checkContent(path.replaceAll('\\', '/').slice(SERVICE.length), readFileSync(path, 'utf8')),
  );
  for (const line of broken) console.error(line);
  console.log(`Content: ${files.length} files, ${broken.length} against the rules`);
  if (broken.length > 0 || files.length === 0) process.exitCode = 1;
}
