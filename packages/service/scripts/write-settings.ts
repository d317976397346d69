import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { settingsPage } from '../src/config/settings.ts';

/** Writes `docs/settings.md` from the table of settings; with `--check` exits 1 when the page is another. */
const FILE = join(import.meta.dirname, '../../../docs/settings.md');

const page = settingsPage();
if (!process.argv.includes('--check')) await writeFile(FILE, page);
else if ((await readFile(FILE, 'utf8').catch(() => '')) !== page) {
  console.error('docs/settings.md is not what the table of settings says. Run: npm run settings');
  process.exitCode = 1;
} else console.log('docs/settings.md is what the table of settings says');
