/** Prints what the formula makes of honest agents and of attacks, beside the bounds that tests keep: `npm run simulate:reputation`. */
import { cases } from './cases.ts';

const width = Math.max(...cases.map(({ name }) => name.length));
process.stdout.write(`${'case'.padEnd(width)}  score  bounds\n`);
for (const { name, least, most, score } of cases) {
  const found = score();
  const isKept = found >= least && found <= most;
  const line = `${name.padEnd(width)}  ${String(found).padStart(5)}  ${least} to ${most}`;
  process.stdout.write(`${line}${isKept ? '' : '  BROKEN'}\n`);
  if (!isKept) process.exitCode = 1;
}
