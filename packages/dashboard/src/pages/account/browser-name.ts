const browsers: readonly [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const systems: readonly [RegExp, string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/Linux|X11/, 'Linux'],
];

const nameIn = (names: readonly [RegExp, string][], text: string) => names.find(([pattern]) => pattern.test(text))?.[1];

const MAX_CHARS = 40;

/** "Firefox on Linux"; for anything but a browser, the beginning of its user agent. */
export function browserName(userAgent: string | null): string {
  if (!userAgent) return 'unknown';
  const browser = nameIn(browsers, userAgent);
  if (!browser) return userAgent.length > MAX_CHARS ? `${userAgent.slice(0, MAX_CHARS)}…` : userAgent;
  const system = nameIn(systems, userAgent);
  return system ? `${browser} on ${system}` : browser;
}
