import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const present = (): string | undefined => PATHS.find((path) => existsSync(path));

/** A Chromium of this machine; installs Debian's where there is none and we may. Throws with what to do otherwise. */
export function findChromium(): string {
  const found = process.env.CHROMIUM ?? present();
  if (found) return found;
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    execFileSync('apt-get', ['update', '-qq'], { stdio: 'ignore' });
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], { stdio: 'ignore' });
  }
  const installed = present();
  if (!installed)
    throw new Error('The tests of the dashboard need Chromium: apt-get install chromium, or name it in CHROMIUM.');
  return installed;
}
