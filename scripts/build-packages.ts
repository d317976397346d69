import { execFile } from 'node:child_process';
import { copyFile, cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

// Builds what is published to npm: JavaScript modules with types, as tarballs in build/. Usage: npm run build:packages

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
const build = join(root, 'build');

interface Source {
  readonly name: string;
  /** Its name on npm, when that is another. */
  readonly publishedAs?: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: string;
  readonly sideEffects?: boolean;
  readonly keywords?: readonly string[];
  readonly bin?: Readonly<Record<string, string>>;
  readonly engines?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** In the order of their dependencies. */
const folders = ['contracts', 'sdk', 'cli'] as const;

const toBuilt = (path: string, ending: string) => path.replace('./src/', './dist/').replace(/\.ts$/, ending);

/** The manifest of the published package: its exports are what was built. */
function manifestOf({ exports = {}, ...source }: Source): object {
  const { name, publishedAs, version, description, license, type, sideEffects, keywords, bin, engines, dependencies } =
    source;
  const built = Object.entries(exports).map(([key, path]) => [
    key,
    { types: toBuilt(path, '.d.ts'), default: toBuilt(path, '.js') },
  ]);
  return {
    ...{ name: publishedAs ?? name, version, description, license, type, sideEffects, keywords, bin },
    engines: engines ?? { node: '>=20.19' },
    files: ['dist', ...(bin ? ['bin', 'man'] : []), 'README.md', 'LICENSE'],
    ...(bin ? { man: Object.keys(bin).map((command) => `./man/${command}.1`) } : {}),
    exports: { ...Object.fromEntries(built), './package.json': './package.json' },
    dependencies,
  };
}

/** Compiles a package's sources. Those of other packages are taken from what was built of them. */
async function compile(folder: string, target: string): Promise<void> {
  const project = join(target, 'tsconfig.json');
  const options = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      rootDir: join(root, 'packages', folder, 'src'),
      outDir: join(target, 'dist'),
      paths: {
        '@agent-network/contracts/*': [join(build, 'contracts/dist/*.d.ts')],
        '@agent-network/sdk': [join(build, 'sdk/dist/index.d.ts')],
        '@agent-network/sdk/agent': [join(build, 'sdk/dist/agent/serve-agent.d.ts')],
      },
    },
    include: [join(root, 'packages', folder, 'src')],
    exclude: [join(root, 'packages', folder, 'src/**/*.test.ts')],
  };
  await writeFile(project, JSON.stringify(options));
  await run(process.execPath, [join(root, 'node_modules/@typescript/native/bin/tsc'), '-p', project]);
  await rm(project);
  for await (const file of glob(join(target, 'dist/**/*.d.ts'))) await nameModules(file);
}

/** The compiler leaves the names of sources in declarations: `./client.ts` becomes `./client.js`. */
async function nameModules(file: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace(/(?<=(?:from |import\()['"]\.{1,2}\/[^'"]*)\.ts(?=['"])/g, '.js'));
}

async function writeManPage(folder: string, command: string, path: string): Promise<void> {
  const { stdout } = await run(process.execPath, [join(root, 'packages', folder, path), 'man']);
  await mkdir(join(build, folder, 'man'));
  await writeFile(join(build, folder, 'man', `${command}.1`), stdout);
}

async function buildPackage(folder: string): Promise<string> {
  const target = join(build, folder);
  await mkdir(target, { recursive: true });
  const source = JSON.parse(await readFile(join(root, 'packages', folder, 'package.json'), 'utf8')) as Source;
  await compile(folder, target);
  if (source.bin) await cp(join(root, 'packages', folder, 'bin'), join(target, 'bin'), { recursive: true });
  await writeFile(join(target, 'package.json'), `${JSON.stringify(manifestOf(source), null, 2)}\n`);
  for (const [command, path] of Object.entries(source.bin ?? {})) await writeManPage(folder, command, path);
  await copyFile(join(root, 'packages', folder, 'README.md'), join(target, 'README.md'));
  await copyFile(join(root, 'LICENSE'), join(target, 'LICENSE'));
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', build], { cwd: target });
  return join('build', stdout.trim());
}

await rm(build, { recursive: true, force: true });
for (const folder of folders) console.log(await buildPackage(folder));
