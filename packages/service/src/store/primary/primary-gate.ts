import type pg from 'pg';
import type { Log } from '../../lib/telemetry/log.ts';
import { type DatabaseHosts, hostOf, hostsOf } from './database-hosts.ts';
import { insertHole, readHoles } from './hole-store.ts';
import {
  judgeServer,
  laterOf,
  type Promised,
  type ServerPosition,
  type ServerVerdict,
  withCommit,
} from './judge-server.ts';
import { type Queryable, readPosition } from './server-position-store.ts';

/** The server must not be used: it takes no writes, or it lacks commits that this node was acknowledged. */
export class WrongServerError extends Error {
  override name = 'WrongServerError';
  readonly kind: 'standby' | 'hole';

  constructor(kind: 'standby' | 'hole', reason: string) {
    super(reason);
    this.kind = kind;
  }
}

/** Server of an admitted connection; null: one without a known position, or without promises. */
export interface AdmittedServer {
  readonly systemId: string;
  readonly timeline: number;
  readonly acceptedAt: bigint;
}

export interface GateState {
  readonly promised: Promised | null;
  /** Server of the last admitted connection. */
  readonly server: Pick<ServerPosition, 'systemId' | 'timeline'> | null;
  /** Reason for which connections are refused since the last admitted one. */
  readonly hole: string | null;
  /** False if the server does not report its position. */
  readonly canCheck: boolean;
  readonly refused: Readonly<Record<'standby' | 'hole', number>>;
}

/** Gate between this process and its database: no statement runs on a server that lacks acknowledged commits. */
export interface PrimaryGate {
  readonly hosts: DatabaseHosts;
  /** Checks the server of a new connection before its first statement; throws WrongServerError. */
  admit(client: pg.ClientBase): Promise<void>;
  admissionOf(client: pg.ClientBase): AdmittedServer | null;
  /** Notes an acknowledged commit: `transaction` ended after `position`. */
  acknowledged(admission: AdmittedServer, commit: { transaction: string; position: bigint }): void;
  /** Adopts promises to other processes, from a file of this machine. */
  recall(promised: Promised): void;
  /** Refuses the database from now on and ends its connections, because another process found a hole. */
  close(reason: string): void;
  /** Ends the connection when the gate closes. */
  follow(client: pg.ClientBase): void;
  state(): GateState;
}

export interface GateOptions {
  readonly url: string;
  readonly log: Log;
  /** Name of this process in its records. */
  readonly label?: string;
}

/** No such function, or not for this role: another kind of server. */
const CANNOT_SAY = new Set(['42883', '42501', '0A000', '42704']);

type BadVerdict = Exclude<ServerVerdict, { kind: 'good' }>;

export function createPrimaryGate({ url, log, label = 'a process' }: GateOptions): PrimaryGate {
  const hosts = hostsOf(url);
  const admissions = new WeakMap<pg.ClientBase, AdmittedServer>();
  const open = new Set<pg.ClientBase>();
  const refused = { standby: 0, hole: 0 };
  let promised: Promised | null = null;
  let server: GateState['server'] = null;
  let hole: string | null = null;
  let canCheck = true;

  const close = (reason: string) => {
    if (hole !== reason) log.fatal({ reason }, 'the database lacks acknowledged commits; an operator has to decide');
    hole = reason;
    for (const client of open) destroy(client);
  };

  /** `tried`: host of the connection, to be left for the next. */
  const refuse = async (client: Queryable, tried: string, verdict: BadVerdict): Promise<never> => {
    refused[verdict.kind] += 1;
    hosts.leave(tried);
    if (verdict.kind === 'standby') throw new WrongServerError('standby', 'the server is a standby');
    await insertHole(client, { reason: verdict.reason, foundBy: label }).catch((err: unknown) =>
      log.warn({ err }, 'cannot record the hole for other processes'),
    );
    close(verdict.reason);
    throw new WrongServerError('hole', verdict.reason);
  };

  const cannotCheck = (err: unknown) => {
    if (canCheck) log.warn({ err }, 'the database does not say where it stands: failovers cannot be checked');
    canCheck = false;
  };

  return {
    hosts,
    async admit(client) {
      const tried = hostOf(client, url);
      // Others go on committing meanwhile: what is promised after the question is no part of its answer.
      const before = promised;
      const found = await positionOf(client, before, cannotCheck);
      if (found === null) return;
      if (found.isStandby) return refuse(client, tried, { kind: 'standby' });
      const holes = await readHoles(client);
      const verdict = judgeServer(found, before, holes.acceptedAt);
      if (verdict.kind !== 'good') return refuse(client, tried, verdict);
      if (holes.open) return refuse(client, tried, { kind: 'hole', reason: holes.open.reason });
      const { systemId, timeline } = found as ServerPosition & { timeline: number };
      if (server && (server.timeline !== timeline || server.systemId !== systemId))
        log.warn({ timeline, before: server.timeline }, 'another database server took over; it has every commit');
      if (hole !== null) log.warn({ hole }, 'the database is used again');
      hole = null;
      server = { systemId, timeline };
      if (found.isPromising) admissions.set(client, { systemId, timeline, acceptedAt: holes.acceptedAt });
    },
    admissionOf: (client) => admissions.get(client) ?? null,
    acknowledged(admission, commit) {
      promised = withCommit(promised, { ...admission, ...commit });
    },
    recall(others) {
      promised = laterOf(promised, others);
    },
    close,
    follow(client) {
      open.add(client);
      client.once('end', () => open.delete(client));
    },
    state: () => ({ promised, server, hole, canCheck, refused: { ...refused } }),
  };
}

/** Position of the server; null if it does not report one, with the error passed to `onUnable`. */
async function positionOf(
  client: pg.ClientBase,
  before: Promised | null,
  onUnable: (error: unknown) => void,
): Promise<ServerPosition | null> {
  try {
    return await readPosition(client, before?.transactions ?? []);
  } catch (error) {
    if (!CANNOT_SAY.has(String((error as { code?: unknown }).code))) throw error;
    onUnable(error);
    return null;
  }
}

const destroy = (client: pg.ClientBase): void =>
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
