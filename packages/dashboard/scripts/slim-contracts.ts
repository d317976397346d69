import { join } from 'node:path';
import type { Plugin } from 'vite';
import { api } from '../../contracts/src/api.ts';
import type { Endpoint } from '../../contracts/src/endpoint.ts';
import { errorCodes } from '../../contracts/src/errors.ts';
import { isTerminal, streamEventTypes } from '../../contracts/src/invocations/stream-events.ts';

const SDK = join(import.meta.dirname, '../../sdk/src/');

/** All that the SDK reads of a row. Of the body only whether there is one: its schema comes with the form that needs it. */
const slimRow = ({ method, path, auth, stream, body }: Endpoint) => ({
  method,
  path,
  auth,
  stream,
  body: body && true,
});

const endpoints = Object.entries<Endpoint>(api).map(([name, row]) => [name, slimRow(row)]);
const errors = errorCodes.map((code) => [code, {}]);
const lastEvents = streamEventTypes.filter(isTerminal);

/** What takes the place of modules of contracts that the SDK imports. */
const slimModules: Readonly<Record<string, string>> = {
  '@agent-network/contracts/api': `export const api = ${JSON.stringify(Object.fromEntries(endpoints))};`,
  '@agent-network/contracts/errors': `export const errorCatalogue = ${JSON.stringify(Object.fromEntries(errors))};`,
  '@agent-network/contracts/invocations/stream-events': `export const streamEventTypes = ${JSON.stringify(streamEventTypes)};
    export const isTerminal = (type) => ${JSON.stringify(lastEvents)}.includes(type);`,
};

/** Gives the SDK of the page the tables of contracts without their schemas, which are most of them, and need zod. */
export const slimContracts = (): Plugin => ({
  name: 'slim-contracts',
  enforce: 'pre',
  resolveId: (source, importer) =>
    source in slimModules && importer?.startsWith(SDK) ? `\0slim:${source}` : undefined,
  load: (id) => (id.startsWith('\0slim:') ? slimModules[id.slice('\0slim:'.length)] : undefined),
});
