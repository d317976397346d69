import type { Hono } from 'hono';
import { AppError } from '../../lib/app-error.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import { type PackageBuild, type ServedPackage, servedPackages } from '../site/package-build.ts';
import { type Document, documentAnswer, toDocument } from './document-answer.ts';

const CACHE = { 'cache-control': 'public, max-age=300' };

/** Serves the SDK and the command line as npm packages: `npm install <node>/sdk.tgz`. */
export function mountPackages(app: Hono, { log }: Pick<Telemetry, 'log'>, build: PackageBuild): void {
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
