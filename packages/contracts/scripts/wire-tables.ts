import { api } from '../src/api.ts';
import type { Endpoint } from '../src/endpoint.ts';
import { errorCodes } from '../src/errors.ts';

/** The parts of a row that a client reads. Of the body and the secret, only whether there is one. */
const routeOf = ({ method, path, auth, keyless, stream, bytes, body, shownOnce }: Endpoint) => ({
  method,
  path,
  auth,
  // Calls that only read are the same with and without a key.
  ...(keyless === 'pays' ? { keyless } : {}),
  ...(stream ? { stream } : {}),
  ...(bytes ? { bytes } : {}),
  ...(body && bytes !== 'sent' ? { hasBody: true } : {}),
  ...(shownOnce ? { hasSecret: true } : {}),
});

/** An editor shows this comment at the client's method of the same name. */
const documented = ([name, { summary, method, path }]: [string, Endpoint]) =>
  `  /** ${summary}: \`${method} ${path}\`. */\n  readonly ${name}: EndpointName;`;

/** Source of the module with the tables that a client needs at run time, without their schemas, which are most of them and need zod. */
export function wireTables(): string {
  const routes = Object.entries<Endpoint>(api).map(([name, row]) => `  ${name}: ${JSON.stringify(routeOf(row))},`);
  return `// Made from the endpoint table by packages/contracts/scripts/openapi.ts.
import type { EndpointName } from './api.ts';
import type { Route } from './endpoint.ts';
import type { ErrorCode } from './errors.ts';

/** Every call of the API, as a client has to send it. */
export const routes: Readonly<Record<EndpointName, Route>> = {
${routes.join('\n')}
};

/** Every call of the API with what it does, which mapped types hand on to editors. */
export interface DocumentedCalls {
${Object.entries<Endpoint>(api).map(documented).join('\n')}
}

/** Every code of an error. */
export const wireErrorCodes: readonly ErrorCode[] = ${JSON.stringify(errorCodes)};
`;
}
