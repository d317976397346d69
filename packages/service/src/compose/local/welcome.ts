import type { Config } from '../../config/config.ts';
import type { LocalJson } from './seed-local.ts';

/** Costs nothing and needs no key, so it works at once. */
const tryFree = ({ baseUrl }: LocalJson, id: string) => `\
    curl -H 'Content-Type: application/json' -H 'X-Sync: true' \\
         -d '{"task":"say hello"}' ${baseUrl}/x402/${id}      (free: runs at once)
`;

const tryEcho = ({ apiKey, baseUrl }: LocalJson, echoId: string) => `\
    curl -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' \\
         -d '{"task":"hello"}' ${baseUrl}/invoke/${echoId}      (402: what it costs)
    npm run example -- pay-with-x402-fetch                              (pays it, gets the result)
`;

/** Welcome text of `npm start`: addresses, keys and first commands. `tookMs`: the time of the start. */
export function welcomeText(
  local: LocalJson,
  { dataDir, servesDashboard, gateways }: Pick<Config, 'dataDir' | 'servesDashboard' | 'gateways'>,
  tookMs: number,
): string {
  const [echo, , free] = local.agents;
  return `
  agent-network is running at ${local.baseUrl}
  It was ready in ${(tookMs / 1000).toFixed(1)} s.

${servesDashboard ? `    dashboard ${local.baseUrl}/dashboard/\n` : ''}    agents    ${local.agents.map(({ name, id }) => `${name} ${id}`).join('\n              ') || 'none: the examples are only for this machine'}
    API key   ${local.apiKey}
    chain     ${local.chain.rpcUrl} (id ${local.chain.chainId}, test USDC)
    registry  ${local.chain.identityRegistry} (ERC-8004)
    more      ${dataDir}/local.json: wallets with test money, other keys, database

  Try next, in another terminal:

    curl ${local.baseUrl}/agents
${free && gateways.has('x402') ? tryFree(local, free.id) : ''}${echo ? tryEcho(local, echo.id) : ''}
  Ctrl-C stops it; everything is kept for the next start.
`;
}
