import { blankComments, type Import, resolveImport, type SourceFile } from './import-graph.ts';

export type Violation = { path: string; line: number; text: string; rule: string };

/** Which packages of ours a package may import. */
const PACKAGES: Record<string, string[]> = {
  contracts: [],
  chain: [],
  service: ['contracts', 'chain'],
  sdk: ['contracts'],
  cli: ['sdk', 'contracts'],
  dashboard: ['sdk', 'contracts'],
};

/** The floors of the service, lowest first. An import leads to a lower floor, or stays within one folder or among the root files of one floor. */
const FLOORS: string[][] = [
  ['lib'],
  ['config-limits.ts', 'config-payments.ts'],
  ['config.ts'],
  ['db'],
  ['queue'],
  ['access'],
  ['events'],
  ['payments'],
  ['identity'],
  ['agents'],
  ['invocations'],
  ['network'],
  ['operator'],
  ['http', 'jobs.ts'],
  ['context.ts', 'app.ts', 'node.ts', 'start-warnings.ts', 'local-mode.ts', 'local'],
  ['main.ts'],
];

/** Packages of others, and where in the service they may be imported. */
const HOMES: { packages: RegExp; homes: RegExp; rule: string }[] = [
  {
    packages: /^(pg)$/,
    homes: /^(db|queue)\/|-store\.ts$/,
    rule: 'SQL stands only in *-store.ts, db/ and queue/',
  },
  { packages: /^graphile-worker$/, homes: /^(db|queue)\//, rule: 'graphile-worker stays in db/ and queue/' },
  { packages: /^(hono|@hono)$/, homes: /^(http\/|app\.ts$)/, rule: 'Hono stays in http/ and app.ts' },
  {
    packages: /^viem$/,
    homes: /^(payments\/x402\/|identity\/|local\/|local-mode\.ts$)/,
    rule: 'viem stays in payments/x402/, identity/, local/ and local-mode.ts',
  },
  {
    packages: /^undici$/,
    homes: /^lib\/guarded-fetch/,
    rule: 'only lib/guarded-fetch reaches out: undici stays there',
  },
];

const CONTENT: { pattern: RegExp; homes: RegExp; rule: string }[] = [
  {
    pattern: /(?<![\w.$#])(?:globalThis\.)?fetch\(/g,
    homes: /^$/,
    rule: 'only lib/guarded-fetch reaches out: no fetch()',
  },
  {
    pattern:
      /\.(selectFrom|insertInto|updateTable|deleteFrom|mergeInto)\(|\bsql(<[^`]*>)?`|[`'"]\s*(select\s[^`'"]*\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from)\s/gi,
    homes: /^(db|queue)\/|-store\.ts$/,
    rule: 'SQL stands only in *-store.ts, db/ and queue/',
  },
];

/** The rules of one file about its imports and, in the service, about its content. */
export function checkFile(file: SourceFile): Violation[] {
  const violations: Violation[] = [];
  for (const each of file.imports) {
    const rule = packageRule(file.path, each) ?? serviceRule(file.path, each);
    if (rule) violations.push({ path: file.path, line: each.line, text: each.text, rule });
  }
  return file.path.startsWith('packages/service/src/') ? [...violations, ...checkContent(file)] : violations;
}

function packageRule(path: string, { specifier }: Import): string | undefined {
  const target = resolveImport(path, specifier);
  const from = packageOf(path);
  const to = target === undefined ? undefined : packageOf(target);
  if (target === undefined || to === from) return undefined;
  const allowed = PACKAGES[from];
  if (to === undefined || specifier.startsWith('.')) return 'a package is left by its name, not by a relative path';
  if (!allowed) return `the package ${from} has no place in the order of packages (scripts/import-rules.ts)`;
  return allowed.includes(to) ? undefined : `${from} may import ${allowed.join(', ') || 'no other package'}, not ${to}`;
}

function serviceRule(path: string, { specifier }: Import): string | undefined {
  const place = inService(path);
  if (place === undefined) return undefined;
  const target = resolveImport(path, specifier);
  if (target !== undefined) {
    const targetPlace = inService(target);
    return targetPlace === undefined ? undefined : floorRule(place, targetPlace);
  }
  const packageName = specifier.split('/')[0] ?? specifier;
  return HOMES.find(({ packages, homes }) => packages.test(packageName) && !homes.test(place))?.rule;
}

function floorRule(place: string, target: string): string | undefined {
  const [room, targetRoom] = [roomOf(place), roomOf(target)];
  if (room === targetRoom) return undefined;
  const [floor, targetFloor] = [floorOf(room), floorOf(targetRoom)];
  if (floor < 0) return `${room} has no floor in the service (scripts/import-rules.ts)`;
  if (targetFloor < 0) return `${targetRoom} has no floor in the service (scripts/import-rules.ts)`;
  if (/-store\.ts$/.test(target) && isFolder(targetRoom))
    return "another folder's store is never imported: call a use case or a rule";
  const isPeer = floor === targetFloor && (FLOORS[floor] ?? []).includes('app.ts');
  return targetFloor < floor || isPeer ? undefined : `${room} stands below or beside ${targetRoom}`;
}

function checkContent(file: SourceFile): Violation[] {
  const place = inService(file.path) ?? '';
  const code = blankComments(file.text);
  const lines = file.text.split('\n');
  return CONTENT.filter(({ homes }) => !homes.test(place)).flatMap(({ pattern, rule }) =>
    [...code.matchAll(pattern)].map((match) => {
      const line = code.slice(0, match.index).split('\n').length;
      return { path: file.path, line, text: (lines[line - 1] ?? '').trim(), rule };
    }),
  );
}

const packageOf = (path: string): string => /^packages\/([^/]+)\//.exec(path)?.[1] ?? '';
const inService = (path: string): string | undefined => /^packages\/service\/src\/(.+)$/.exec(path)?.[1];
const roomOf = (place: string): string => place.split('/')[0] ?? place;
const floorOf = (room: string): number => FLOORS.findIndex((rooms) => rooms.includes(room));
const isFolder = (room: string): boolean => !room.endsWith('.ts');
