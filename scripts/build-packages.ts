import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, cp, glob, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

// Builds what is published to npm: JavaScript modules with types, as tarballs in build/. Usage: npm run build:packages [-- --served]

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
/** True: build the tarballs that a node serves, each with its dependencies from this repository inside. Does nothing if they exist. */
const isServed = process.argv.includes('--served');
const served = join(root, 'build/served');
const build = join(root, isServed ? `build/.served-${process.pid}` : 'build');

interface Source {
  readonly name: string;
  /** Name on npm, if different. */
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

/** Engines of a package that states none of its own. */
const NODE_20 = { node: '>=20.19' };

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
    engines: engines ?? NODE_20,
    files: ['dist', ...(bin ? ['bin', 'man'] : []), 'README.md', 'LICENSE'],
    ...(bin ? { man: Object.keys(bin).map((command) => `./man/${command}.1`) } : {}),
    exports: { ...Object.fromEntries(built), './package.json': './package.json' },
    dependencies,
  };
}

/** Functions of the language that Node 20.19 has. A newer one fails the compilation of a package that states this version. */
const NODE_20_LIB = ['es2023', 'es2024.string', 'esnext.disposable'];

/** Compiles a package's sources. Those of other packages are taken from what was built of them. */
async function compile(folder: string, target: string, { engines }: Source): Promise<void> {
  const project = join(target, 'tsconfig.json');
  const options = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      incremental: false,
      tsBuildInfoFile: null,
      declaration: true,
      ...(engines ? {} : { lib: NODE_20_LIB }),
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
  await compile(folder, target, source);
  if (source.bin) await cp(join(root, 'packages', folder, 'bin'), join(target, 'bin'), { recursive: true });
  await writeFile(join(target, 'package.json'), `${JSON.stringify(manifestOf(source), null, 2)}\n`);
  for (const [command, path] of Object.entries(source.bin ?? {})) await writeManPage(folder, command, path);
  await copyFile(join(root, 'packages', folder, 'README.md'), join(target, 'README.md'));
  await copyFile(join(root, 'LICENSE'), join(target, 'LICENSE'));
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', build], { cwd: target });
  return join('build', stdout.trim());
}

/** Bundles a dependency from this repository into the tarball, as it need not be published. */
async function packBundled(folder: string, inside: readonly string[]): Promise<void> {
  const target = join(build, 'bundled', folder);
  await cp(join(build, folder), target, { recursive: true });
  const manifest = JSON.parse(await readFile(join(target, 'package.json'), 'utf8'));
  const names = inside.map((each) => `@agent-network/${each}`);
  for (const [index, each] of inside.entries())
    await cp(join(build, each), join(target, 'node_modules', names[index] ?? ''), { recursive: true });
  // Dependencies of the packages inside are installed with the package around them.
  const needed = await Promise.all(
    inside.map(async (each) => JSON.parse(await readFile(join(build, each, 'package.json'), 'utf8')).dependencies),
  );
  const dependencies = Object.assign({}, ...needed, manifest.dependencies);
  const bundled = { ...manifest, dependencies, bundleDependencies: names };
  await writeFile(join(target, 'package.json'), `${JSON.stringify(bundled, null, 2)}\n`);
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', build], { cwd: target });
  await rename(join(build, stdout.trim()), join(build, `${folder}.tgz`));
}

/** Names the build that the sources would give. */
async function sourceHash(): Promise<string> {
  const hash = createHash('sha256');
  const paths = await Array.fromAsync(
    glob('packages/{contracts,sdk,cli}/{package.json,README.md,{src,bin}/**/*.{ts,js}}', { cwd: root }),
  );
  for (const path of [...paths.sort(), 'package-lock.json', 'scripts/build-packages.ts'])
    hash.update(`${path}\0`).update(await readFile(join(root, path)));
  return hash.digest('hex');
}

async function buildServed(): Promise<void> {
  const hash = await sourceHash();
  const built = await readFile(join(served, 'built.json'), 'utf8').catch(() => '{}');
  if (JSON.parse(built).hash === hash) return;
  try {
    for (const folder of folders) await buildPackage(folder);
    await packBundled('sdk', ['contracts']);
    await packBundled('cli', ['contracts', 'sdk']);
    await mkdir(served, { recursive: true });
    for (const folder of ['sdk', 'cli']) await rename(join(build, `${folder}.tgz`), join(served, `${folder}.tgz`));
    await writeFile(join(served, 'built.json'), JSON.stringify({ hash }));
  } finally {
    await rm(build, { recursive: true, force: true });
  }
}

if (isServed) await buildServed();
else {
  await rm(build, { recursive: true, force: true });
  for (const folder of folders) console.log(await buildPackage(folder));
}
