/** One statement as it went over the wire. */
export interface SentStatement {
  readonly connection: number;
  /** Name of a prepared statement, or the text of a simple one. */
  readonly name: string;
  /** The server's command tags; empty when it failed, or was skipped after one that failed. */
  readonly tags: readonly string[];
}

export interface WireCounts {
  /** Times that a client sent something after it had heard from the server: the opening of connections is not counted. */
  readonly trips: number;
  /** Commits of transactions, and statements outside of transactions that write. */
  readonly commits: number;
  /** Statements sent in each round trip. */
  readonly sent: readonly (readonly SentStatement[])[];
}

/** Reads PostgreSQL's protocol between clients and the server. */
export interface WireLog {
  fromClient(connection: number, chunk: Buffer): void;
  fromServer(connection: number, chunk: Buffer): void;
  /** Starts a new count. */
  reset(): void;
  counts(): WireCounts;
}

interface Statement extends SentStatement {
  readonly tags: string[];
}

/** The statements up to a Sync, or those of a simple query. */
interface Unit {
  readonly statements: Statement[];
  readonly texts: string[];
  isSimple: boolean;
}

interface Connection {
  /** The first message has no type. */
  hasStarted: boolean;
  isReady: boolean;
  hasHeard: boolean;
  inTransaction: boolean;
  readonly texts: Map<string, string>;
  bound: string;
  building: Unit;
  readonly waiting: Unit[];
  fromClient: Buffer;
  fromServer: Buffer;
}

const WRITES = /\b(insert into|update|delete from)\s/i;
const isWrite = (text: string): boolean => WRITES.test(text.replaceAll(/\bfor (no key )?update\b/gi, ''));

const newUnit = (): Unit => ({ statements: [], texts: [], isSimple: false });

export function createWireLog(): WireLog {
  const connections = new Map<number, Connection>();
  let sent: Statement[][] = [];
  let commits = 0;

  const of = (number: number): Connection => {
    const known = connections.get(number);
    if (known) return known;
    const fresh: Connection = {
      ...{ hasStarted: false, isReady: false, hasHeard: true, inTransaction: false, texts: new Map(), bound: '' },
      ...{ building: newUnit(), waiting: [], fromClient: Buffer.alloc(0), fromServer: Buffer.alloc(0) },
    };
    connections.set(number, fresh);
    return fresh;
  };

  function execute(connection: number, from: Connection, name: string, text: string): void {
    const statement = { connection, name, tags: [] };
    from.building.statements.push(statement);
    from.building.texts.push(text);
    sent.at(-1)?.push(statement);
  }

  function heardFromClient(number: number, from: Connection, type: string, body: Buffer): void {
    const [first = '', second = ''] = body.toString('utf8').split('\0', 2);
    if (type === 'P') from.texts.set(first, second);
    else if (type === 'B') from.bound = second;
    else if (type === 'E') execute(number, from, from.bound, from.texts.get(from.bound) ?? '');
    else if (type === 'Q') {
      execute(number, from, first, first);
      from.building.isSimple = true;
    }
    if (type !== 'S' && type !== 'Q') return;
    from.waiting.push(from.building);
    from.building = newUnit();
  }

  function heardFromServer(from: Connection, type: string, body: Buffer): void {
    const unit = from.waiting[0];
    if (type === 'C' && unit) {
      const statement = unit.isSimple ? unit.statements[0] : unit.statements.find(({ tags }) => tags.length === 0);
      const tag = body.toString('utf8', 0, body.length - 1);
      statement?.tags.push(tag);
      if (tag === 'COMMIT') commits += 1;
    }
    if (type !== 'Z') return;
    const wasInTransaction = from.inTransaction;
    from.inTransaction = body.toString() !== 'I';
    if (!from.isReady) {
      from.isReady = true;
      return;
    }
    from.waiting.shift();
    if (wasInTransaction || from.inTransaction || !unit) return;
    for (const [index, { tags }] of unit.statements.entries())
      if (tags.length > 0 && !tags.includes('COMMIT') && isWrite(unit.texts[index] ?? '')) commits += 1;
  }

  return {
    fromClient(number, chunk) {
      const from = of(number);
      if (from.isReady && from.hasHeard) sent.push([]);
      from.hasHeard = false;
      from.fromClient = Buffer.concat([from.fromClient, chunk]);
      if (!from.hasStarted && from.fromClient.length >= 4) {
        const length = from.fromClient.readInt32BE(0);
        if (from.fromClient.length < length) return;
        from.fromClient = from.fromClient.subarray(length);
        from.hasStarted = true;
      }
      from.fromClient = eachMessage(from.fromClient, (type, body) => heardFromClient(number, from, type, body));
    },
    fromServer(number, chunk) {
      const from = of(number);
      from.hasHeard = true;
      from.fromServer = Buffer.concat([from.fromServer, chunk]);
      from.fromServer = eachMessage(from.fromServer, (type, body) => heardFromServer(from, type, body));
    },
    reset() {
      sent = [];
      commits = 0;
    },
    counts: () => ({ trips: sent.length, commits, sent: [...sent] }),
  };
}

/** Returns the rest, which is no whole message yet. */
function eachMessage(bytes: Buffer, handle: (type: string, body: Buffer) => void): Buffer {
  let rest = bytes;
  while (rest.length >= 5) {
    const length = rest.readInt32BE(1) + 1;
    if (rest.length < length) break;
    handle(String.fromCharCode(rest[0] as number), rest.subarray(5, length));
    rest = rest.subarray(length);
  }
  return rest;
}
