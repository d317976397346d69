import { readdirSync } from 'node:fs';
import { floors, openStores, packageHomes, packages, within } from './scripts/floors.ts';

const SERVICE = '^packages/service/src/';
const inRoom = (room) => (room.endsWith('.ts') ? `${SERVICE}${literal(room)}$` : `${SERVICE}${room}/`);
const literal = (text) => text.replaceAll('.', '\\.');
const tests = '\\.test\\.tsx?$';

/** A room imports only rooms that stand before it in the list. */
const floorRules = floors.map((room, index) => ({
  name: `floor: ${room}`,
  comment: `${room} imports only itself and what stands below it in scripts/floors.ts.`,
  severity: 'error',
  from: { path: inRoom(room), pathNot: tests },
  to: { path: SERVICE, pathNot: floors.slice(0, index + 1).map(inRoom) },
}));

const storeRule = {
  name: 'store of another room',
  comment: "Another room's store is never imported: call a use case or a rule.",
  severity: 'error',
  from: { path: `${SERVICE}([^/]+)/`, pathNot: [tests, `${SERVICE}compose/`] },
  to: {
    path: `${SERVICE}.*-store\\.ts$`,
    pathNot: ['$1', ...openStores].map((each) => `${SERVICE}${each}/`),
  },
};

const withinRules = within.map(({ name, from, to, comment }) => ({
  name,
  comment,
  severity: 'error',
  from: { path: SERVICE + from, pathNot: tests },
  to: { path: SERVICE + to },
}));

const homeRules = packageHomes.map(({ packages: names, homes, comment }) => ({
  name: `home of ${names.join(', ')}`,
  comment,
  severity: 'error',
  from: { path: SERVICE, pathNot: [tests, ...homes.map((home) => `${SERVICE}${home}`)] },
  to: { path: names.flatMap((name) => [`^node_modules/${name}/`, `^${name}($|/)`]) },
}));

const packageRules = Object.entries(packages).map(([name, allowed]) => ({
  name: `package: ${name}`,
  comment: `packages/${name} imports ${allowed.length > 0 ? allowed.join(', ') : 'no other package of ours'}.`,
  severity: 'error',
  from: { path: `^packages/${name}/src/`, pathNot: tests },
  to: {
    path: '^packages/',
    pathNot: ['/package\\.json$', '/node_modules/', ...[name, ...allowed].map((each) => `^packages/${each}/src/`)],
  },
}));

const unlisted = readdirSync('packages').filter((name) => !(name in packages));
if (unlisted.length > 0) throw new Error(`scripts/floors.ts does not list packages/${unlisted.join(', packages/')}`);

export default {
  forbidden: [
    ...floorRules,
    storeRule,
    ...withinRules,
    ...homeRules,
    ...packageRules,
    {
      name: 'room without a floor',
      comment: 'Every room of the service has its place in scripts/floors.ts.',
      severity: 'error',
      from: { path: SERVICE, pathNot: [tests, ...floors.map(inRoom)] },
      to: {},
    },
    { name: 'circle', severity: 'error', from: { pathNot: tests }, to: { circular: true } },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^packages/[^/]+/(dist|artifacts|test|scripts)/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types', 'default'] },
  },
};
