import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface DnsServer {
  /** Address, in the form of `DNS_SERVERS`. */
  readonly address: string;
  /** The names that it was asked for, once for each question. */
  readonly asked: string[];
  /** Answer for a name: IPv4 addresses; empty: none exist; null: no answer, ever. Default: the name does not exist. */
  answer(name: string): readonly string[] | null | undefined;
  stop(): Promise<void>;
}

const A = 1;
const TXT = 16;
const NXDOMAIN = 3;

/** A DNS server on loopback, over UDP, that answers what a test says. */
export async function startDnsServer(
  answer: DnsServer['answer'],
  ttlS = 30,
  textsOf: (name: string) => readonly string[] = () => [],
): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  const server: DnsServer = {
    get address() {
      return `127.0.0.1:${socket.address().port}`;
    },
    asked,
    answer,
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  };
  socket.on('message', (query, from) => {
    const { name, type, end } = questionOf(query);
    asked.push(name);
    const texts = type === TXT ? textsOf(name) : [];
    const addresses = texts.length > 0 ? [] : server.answer(name);
    if (addresses === null) return;
    const records = [
      ...(type === A ? (addresses ?? []).map((address) => recordOf(address, ttlS)) : []),
      ...texts.map((text) => textRecordOf(text, ttlS)),
    ];
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180 | (addresses ? 0 : NXDOMAIN), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...records]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return server;
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** A text of at most 255 characters, of the name that was asked for. */
function textRecordOf(text: string, ttlS: number): Buffer {
  const record = Buffer.alloc(13 + text.length);
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(TXT, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(ttlS, 6);
  record.writeUInt16BE(text.length + 1, 10);
  record.writeUInt8(text.length, 12);
  record.write(text, 13, 'latin1');
  return record;
}

/** Record of the requested name. */
function recordOf(address: string, ttlS: number): Buffer {
  const record = Buffer.alloc(16);
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(A, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(ttlS, 6);
  record.writeUInt16BE(4, 10);
  record.set(address.split('.').map(Number), 12);
  return record;
}
