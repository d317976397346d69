import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** An executable of Chromium or Chrome, and the environment that it needs beside ours. */
export interface FoundBrowser {
  readonly executablePath: string;
  readonly env: Readonly<Record<string, string>>;
}

const VERSION = '147.0.0';
const UNPACKED = join(import.meta.dirname, `../../../../node_modules/.cache/agent-network/chromium-${VERSION}`);

/** Browsers that are installed on the machine: Debian, Ubuntu and Fedora, macOS, Windows. */
const INSTALLED = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** The package names the folders of AWS Lambda; without any font Chromium draws no text, and ends at the first unusual sign. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(UNPACKED, 'fonts')}</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${join(UNPACKED, 'fonts-cache')}</cachedir>
</fontconfig>
`;

const named = process.env.CHROMIUM;
const installed = (): string | undefined => INSTALLED.find((path) => existsSync(path));
const hasPackaged = process.platform === 'linux' && process.arch === 'x64';

/** Why the browser tests are skipped; null when there is a browser. */
export const missingBrowser: string | null =
  named || hasPackaged || installed()
    ? null
    : 'no browser: install Chrome or Chromium, or name an executable in CHROMIUM';

/**
 * The browser of the tests: `CHROMIUM`, else the one of npm (`@sparticuz/chromium`, Linux x64), else an installed one. Needs
 * neither root nor a package manager.
 */
export async function findBrowser(): Promise<FoundBrowser> {
  if (named) return { executablePath: named, env: {} };
  if (hasPackaged) return unpack();
  const executablePath = installed();
  if (!executablePath) throw new Error(missingBrowser ?? 'no browser');
  return { executablePath, env: {} };
}

/** Unpacks the browser of npm with the libraries that it links, once per installation. Safe in two processes at once. */
async function unpack(): Promise<FoundBrowser> {
  if (!existsSync(UNPACKED)) {
    const parent = join(UNPACKED, '..');
    await mkdir(parent, { recursive: true });
    const dir = await mkdtemp(join(parent, 'unpacking-'));
    inflateInto(dir);
    await writeFile(join(dir, 'fonts.conf'), FONTS);
    await rename(dir, UNPACKED).catch(async (error) => {
      // Another process was first.
      await rm(dir, { recursive: true, force: true });
      if (!existsSync(UNPACKED)) throw error;
    });
  }
  return {
    executablePath: join(UNPACKED, 'chromium'),
    env: { LD_LIBRARY_PATH: join(UNPACKED, 'al2023/lib'), FONTCONFIG_FILE: join(UNPACKED, 'fonts.conf') },
  };
}

/** The package unpacks into the folder for temporary files, and adds its libraries where it believes to run on AWS Lambda. */
function inflateInto(dir: string): void {
  const script = "import('@sparticuz/chromium').then(({ default: chromium }) => chromium.executablePath())";
  execFileSync(process.execPath, ['-e', script], {
    cwd: import.meta.dirname,
    env: { ...process.env, TMPDIR: dir, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
  });
}
