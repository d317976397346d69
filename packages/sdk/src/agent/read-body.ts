import type { IncomingMessage } from 'node:http';
import { AgentError } from './agent-error.ts';

/** The 1 MiB that a caller may send to a node, and the fields that a node adds to it. */
const maxBodyBytes = 1024 * 1024 + 16 * 1024;

/** Pieces that are kept apart: whoever sends them chooses how many there are, and each costs 200 bytes beside its own. */
const maxApart = 256;

const tooLarge = () => new AgentError('payload_too_large', 'The body is larger than 1 MiB', 413);

/** The whole body. Throws `AgentError` with status 413 as soon as it is known to be above the cap. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge();
  const joined: Buffer[] = [];
  let apart: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw tooLarge();
    apart.push(chunk);
    if (apart.length < maxApart) continue;
    joined.push(Buffer.concat(apart));
    apart = [];
  }
  return Buffer.concat([...joined, ...apart]);
}
