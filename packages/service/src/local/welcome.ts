import type { Config } from '../config.ts';
import type { LocalJson } from './seed-local.ts';

const tryEcho = ({ apiKey, baseUrl }: LocalJson, echoId: string) => `\
    curl -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' \\
         -d '{"task":"hello"}' ${baseUrl}/invoke/${echoId}      (402: what it costs)
    npm run example -- pay-with-x402-fetch                              (pays it, gets the result)
`;

/** Welcome text of `npm start`: addresses, keys and first commands. */
export function welcomeText(
  local: LocalJson,
  { dataDir, servesDashboard }: Pick<Config, 'dataDir' | 'servesDashboard'>,
): string {
  const [echo] = local.agents;
  return `
  agent-network is running at ${local.baseUrl}

${servesDashboard ? `    dashboard ${local.baseUrl}/dashboard/\n` : ''}    agents    ${local.agents.map(({ name, id }) => `${name} ${id}`).join('\n              ') || 'none: the examples are only for this machine'}
    API key   ${local.apiKey}
    chain     ${local.chain.rpcUrl} (id ${local.chain.chainId}, test USDC)
    registry  ${local.chain.identityRegistry} (ERC-8004)
    more      ${dataDir}/local.json: wallets with test money, other keys, database

  Try next, in another terminal:

    curl ${local.baseUrl}/agents
${echo ? tryEcho(local, echo.id) : ''}
  Ctrl-C stops it; everything is kept for the next start.
`;
}
