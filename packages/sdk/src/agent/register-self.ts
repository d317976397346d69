import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import { isApiError } from '../api-error.ts';
import { createClient } from '../client.ts';
import { requireToken } from './call-signature.ts';

export interface SelfRegistration {
  readonly baseUrl: string;
  /** An API key that may register agents (scope `agents:write`). */
  readonly apiKey: string;
  /** File with the agent's id and token (mode 0600). An agent found in it is not registered again. */
  readonly tokenFile: string;
  readonly name: string;
  readonly description?: string;
  readonly capabilities: readonly string[];
  readonly rates: { readonly perRequest: string; readonly perHour?: string };
  /** Two to five questions that it is for, as people ask them: search finds it by these. */
  readonly exampleQuestions?: readonly string[];
  /** JSON Schemas of its input and result, with examples. The node refuses calls that do not fit before they are paid. */
  readonly types?: AgentTypes;
}

export interface AgentIdentity {
  readonly agentId: string;
  readonly identityToken: string;
}

interface Kept extends AgentIdentity {
  readonly baseUrl: string;
}

/** A client reaches the same node by an address with or without slashes at its end. */
const isSameNode = (a: string, b: string): boolean => a.replace(/\/+$/, '') === b.replace(/\/+$/, '');

type RegistryClient = ReturnType<typeof createClient>;

async function readKept(file: string, baseUrl: string): Promise<Kept | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  const kept = text === null ? null : (JSON.parse(text) as Kept);
  if (!kept || !isSameNode(kept.baseUrl, baseUrl)) return null;
  requireToken(kept.identityToken, file);
  return kept;
}

/** Finds the agent of the token file at the node and brings its endpoint up to date; null when the node does not know it. */
async function resume(client: RegistryClient, kept: Kept, endpoint: string): Promise<AgentIdentity | null> {
  const params = { id: kept.agentId };
  try {
    const known = await client.getAgent({ params });
    if (known.endpoint !== endpoint) await client.updateAgent({ params, body: { endpoint } });
    return { agentId: kept.agentId, identityToken: kept.identityToken };
  } catch (error) {
    if (isApiError(error, 'NOT_FOUND')) return null;
    throw error;
  }
}

async function registerNew(client: RegistryClient, self: SelfRegistration, endpoint: string): Promise<AgentIdentity> {
  const { name, description, capabilities, rates, exampleQuestions, types, tokenFile, baseUrl } = self;
  const unfinished = `${tokenFile}.${process.pid}`;
  await mkdir(dirname(tokenFile), { recursive: true });
  try {
    // Opened first: a token is shown once, and registering before knowing that it can be kept would lose it.
    await using file = await open(unfinished, 'w', 0o600);
    const { id: agentId, identityToken } = await client.registerAgent({
      body: {
        ...{ name, capabilities: [...capabilities], rates, endpoint },
        ...(description ? { description } : {}),
        ...(exampleQuestions ? { exampleQuestions: [...exampleQuestions] } : {}),
        ...(types ? { types } : {}),
      },
    });
    const kept: Kept = { baseUrl, agentId, identityToken };
    await file.writeFile(`${JSON.stringify(kept, null, 2)}\n`);
    await file.sync();
    await rename(unfinished, tokenFile);
    return { agentId, identityToken };
  } finally {
    await rm(unfinished, { force: true });
  }
}

/**
 * Returns the agent's identity at a node: from the token file if the node knows it, else by a new registration, stored in the file. Updates
 * a changed endpoint at the node. Throws errors of the client, and of the file before anything is registered.
 */
export async function registerSelf(self: SelfRegistration, endpoint: string): Promise<AgentIdentity> {
  const client = createClient({ baseUrl: self.baseUrl, apiKey: self.apiKey });
  const kept = await readKept(self.tokenFile, self.baseUrl);
  return (kept && (await resume(client, kept, endpoint))) ?? (await registerNew(client, self, endpoint));
}
