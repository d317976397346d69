import { join } from 'node:path';
import { type HandleCall, type ServeAgentOptions, serveAgent } from '@agent-network/sdk/agent';
import { dataFolder, readLocal } from '../local.ts';
import type { AgentDescription } from './registrations.ts';

async function identityOf(about: AgentDescription): Promise<Pick<ServeAgentOptions, 'identityToken' | 'registerWith'>> {
  const { AGENT_IDENTITY_TOKEN, AGENT_NETWORK_URL, AGENT_NETWORK_KEY } = process.env;
  if (AGENT_IDENTITY_TOKEN) return { identityToken: AGENT_IDENTITY_TOKEN };
  const node =
    AGENT_NETWORK_URL && AGENT_NETWORK_KEY
      ? { baseUrl: AGENT_NETWORK_URL, apiKey: AGENT_NETWORK_KEY }
      : await readLocal();
  const tokenFile = join(dataFolder(), 'agents', `${about.name.toLowerCase().replaceAll(' ', '-')}.json`);
  return { registerWith: { ...about, baseUrl: node.baseUrl, apiKey: node.apiKey, tokenFile } };
}

/**
 * Serves an agent until SIGTERM, or until its parent closes the IPC channel. A parent passes AGENT_PORT and AGENT_IDENTITY_TOKEN and gets
 * `{ url }`; started by hand, the agent registers itself.
 */
export async function startAgent(about: AgentDescription, handle: HandleCall): Promise<void> {
  const { AGENT_PORT = '0', AGENT_ENDPOINT } = process.env;
  const agent = await serveAgent({
    handle,
    port: Number(AGENT_PORT),
    ...(AGENT_ENDPOINT ? { endpoint: AGENT_ENDPOINT } : {}),
    ...(await identityOf(about)),
  });
  let isStopping = false;
  const stop = async () => {
    if (isStopping) return;
    isStopping = true;
    await agent.close();
    if (process.connected) process.disconnect();
  };
  process.on('SIGTERM', stop);
  // Ctrl-C reaches the whole group: with a parent, the parent decides when no more calls come.
  process.on('SIGINT', () => (process.send ? undefined : stop()));
  process.once('disconnect', stop);
  process.send?.({ url: agent.url });
  console.log(`${about.name} listens on ${agent.url}${agent.agentId ? ` as ${agent.agentId}` : ''}`);
}
