import { readFileSync } from 'node:fs';
import type { Hono } from 'hono';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { AppError } from '../../lib/app-error.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import { madeOnce } from '../../lib/made-once.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import { type PackageBuild, type ServedPackage, servedPackages } from '../site/package-build.ts';
import { type Document, documentAnswer, toDocument } from './document-answer.ts';

const CACHE = { 'cache-control': 'public, max-age=300' };

const pythonFile = new URL('../../../../sdk/python/agent_network.py', import.meta.url);
/** Default address of the node in the file. The address of this node replaces it. */
const PYTHON_DEFAULT = '"http://127.0.0.1:4020"';

/**
 * Serves the SDK and the command line as npm packages (`npm install <node>/sdk.tgz`), and the module for Python, which is one file.
 */
export function mountPackages(
  app: Hono,
  { log, baseUrl }: Pick<Telemetry, 'log'> & Pick<NodeIdentity, 'baseUrl'>,
  build: PackageBuild,
): void {
  const python = madeOnce(() =>
    toDocument(
      readFileSync(pythonFile, 'utf8').replace(PYTHON_DEFAULT, () => JSON.stringify(baseUrl)),
      'text/x-python; charset=utf-8',
    ),
  );
  app.get('/python/agent_network.py', (c) => documentAnswer(c, python(), CACHE));
  const documents = createBoundedCache<Document>(servedPackages.length);
  const read = async (name: ServedPackage): Promise<Document> => {
    const known = documents.get(name);
    if (known) return known;
    const bytes = await build.tarball(name).catch((error: unknown) => {
      log.error({ err: error }, 'build of the npm packages failed');
      throw new AppError('UNAVAILABLE', 'The packages could not be built; the log of the node says why.');
    });
    if (bytes === null) throw new AppError('NOT_FOUND', 'This installation of the node does not serve packages.');
    const document = toDocument(bytes, 'application/gzip');
    documents.set(name, document);
    return document;
  };
  for (const name of servedPackages) app.get(`/${name}.tgz`, async (c) => documentAnswer(c, await read(name), CACHE));
}
