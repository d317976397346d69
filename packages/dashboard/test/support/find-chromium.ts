import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** The one without a window first: it does the same with two thirds of the work. */
const PATHS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
/** Debian's package of the first of them. */
const PACKAGE = 'chromium-headless-shell';

const present = (): string | undefined => PATHS.find((path) => existsSync(path));

/** A Chromium of this machine; installs Debian's where there is none and we may. Throws with what to do otherwise. */
export function findChromium(): string {
  const found = process.env.CHROMIUM ?? present();
  if (found) return found;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    execFileSync('apt-get', ['update', '-qq'], { stdio: 'ignore' });
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', PACKAGE], { stdio: 'ignore' });
  }
  const installed = present();
  if (!installed)
    throw new Error(
      'The tests of the dashboard need Chromium: apt-get install chromium-headless-shell, or name it in CHROMIUM.',
    );
  return installed;
}
