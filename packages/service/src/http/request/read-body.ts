import { alteredNumber, alteredProblem } from '@agent-network/contracts/altered-number';
import type { Context } from 'hono';
import { AppError, invalid } from '../../lib/app-error.ts';
import { createBytePieces } from '../../lib/byte-pieces.ts';
import { createFairPace } from '../../lib/concurrency/fair-pace.ts';
import { countJsonNodes, MAX_NODES } from '../../lib/json/json-limits.ts';
import { createHeldBytes } from '../answer/answer-room.ts';
import { type BodyBounds, requireBounded } from './body-bounds.ts';
import { clientNetwork, type ProxySettings } from './remote-address.ts';

export const MAX_BODY_BYTES = 1024 * 1024;

/** Refuses bytes that are not UTF-8: replacement characters would change the content. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

const tooLarge = () =>
  new AppError(
    'PAYLOAD_TOO_LARGE',
    'The body is larger than 1 MiB. Put large input where the agent can fetch it, and send its address.',
  );

/** Maximum bytes of bodies that are not whole yet, of one network and in all: they are held for a minute when they come slowly. */
export const MAX_OF_NETWORK_BYTES = 32 * 1024 * 1024;
const MAX_BYTES = 256 * 1024 * 1024;
/** Bytes accepted of each body regardless of the totals, so that large bodies do not shut out small ones. */
export const SMALL_BYTES = 64 * 1024;

const tooMuch = (who: string) =>
  new AppError(
    'UNAVAILABLE',
    `${who} too many large bodies at once. Nothing was done with this request; repeat it unchanged, with the same payment or Idempotency-Key, later.`,
    { details: { outcome: 'nothing' } },
  );

/** Shared by the process, like its memory. */
const arriving = createArrivingBodies();

/**
 * Reads a JSON body; undefined when there is none. Throws if it is too large, beyond its bounds, nested too deep, or not JSON, or
 * holds a number that would reach an agent as another one, and while too much of others or of its own network is arriving.
 */
export async function readBody(ctx: ProxySettings, c: Context, bounds: BodyBounds): Promise<unknown> {
  const request = c.req.raw;
  const bytes = await bytesOf(ctx, c).catch((error: unknown) => {
    if (request.signal.aborted) throw invalid('body', 'was cut off: the connection ended before it was whole');
    throw error;
  });
  if (bytes.byteLength === 0) return undefined;
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    throw invalid('body', `is not valid JSON${whyNot(request, error)}`);
  }
  requireBounded(value, bounds);
  requireKept(text);
  return value;
}

const MAX_WAIT_MS = 5000;
/** Parsing of large bodies, by their names, lists and objects: a network gets some hundredths of the time of this process. */
const parsing = createFairPace({
  ofOne: { perS: 40_000, burst: 100_000 },
  ofAll: { perS: 400_000, burst: 400_000 },
});

/** Waits until a large body may be parsed. Throws PAYLOAD_TOO_LARGE, or UNAVAILABLE while its network sends too many. */
async function awaitParsing(network: string, nodes: number): Promise<void> {
  if (nodes > MAX_NODES)
    throw new AppError('PAYLOAD_TOO_LARGE', `The body has more than ${MAX_NODES} fields, lists and objects.`);
  const signal = AbortSignal.timeout(MAX_WAIT_MS);
  await parsing.take(network, nodes, signal);
  if (signal.aborted) throw tooMuch('Your network address is sending');
}

function requireKept(text: string): void {
  const altered = alteredNumber(text);
  if (altered) throw invalid(altered.path || 'body', alteredProblem(altered));
}

/** The usual causes: a compressed body, another type of body, or one that was cut off. */
function whyNot(request: Request, error: unknown): string {
  const encoding = request.headers.get('content-encoding')?.trim() ?? '';
  if (!/^(identity)?$/i.test(encoding)) return ': send it without a Content-Encoding';
  const type = request.headers.get('content-type')?.split(';')[0]?.trim() ?? '';
  if (/^(multipart\/|text\/|application\/x-www-form-urlencoded$)/.test(type))
    return `: send application/json instead of ${type}`;
  return error instanceof SyntaxError && /end of JSON|Unterminated/.test(error.message) ? ': it ends too early' : '';
}

async function bytesOf(ctx: ProxySettings, c: Context): Promise<ArrayBuffer | Uint8Array> {
  const request = c.req.raw;
  const length = request.headers.get('content-length');
  if (Number(length ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  // Small bodies are not counted: the limit of connections bounds them.
  if (length !== null && Number(length) <= SMALL_BYTES) return request.arrayBuffer();
  const network = clientNetwork(ctx, c);
  const body = arriving.open(network);
  try {
    const bytes = await readCounted(request, body);
    // Counted until it may be parsed: what waits for that is held in memory as what arrives.
    if (bytes.byteLength > SMALL_BYTES) await awaitParsing(network, countJsonNodes(bytes));
    return bytes;
  } finally {
    body.close();
  }
}

/** Reads a body up to the limit, counting its bytes as they arrive: it may have no length, and take its time. */
async function readCounted(request: Request, body: ArrivingBody): Promise<Uint8Array> {
  const pieces = createBytePieces();
  for await (const piece of request.body ?? []) {
    body.add(piece.byteLength);
    pieces.add(piece);
    if (pieces.byteLength > MAX_BODY_BYTES) throw tooLarge();
  }
  return pieces.take();
}

interface ArrivingBodies {
  /** A body of a network that begins to arrive. */
  open(network: string): ArrivingBody;
}

interface ArrivingBody {
  /** Counts further bytes. Throws UNAVAILABLE while too much is arriving. */
  add(bytes: number): void;
  /** Frees its bytes: it is whole, or is not read to its end. */
  close(): void;
}

export function createArrivingBodies(): ArrivingBodies {
  const held = createHeldBytes();
  return {
    open(network) {
      let own = 0;
      return {
        add(bytes) {
          if (own + bytes > SMALL_BYTES) {
            if (held.of(network) + bytes > MAX_OF_NETWORK_BYTES) throw tooMuch('Your network address is sending');
            if (held.all() + bytes > MAX_BYTES) throw tooMuch('The node is being sent');
          }
          held.add([network], bytes);
          own += bytes;
        },
        close() {
          held.add([network], -own);
          own = 0;
        },
      };
    },
  };
}
