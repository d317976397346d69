import { setImmediate } from 'node:timers/promises';
import { typesOfCall } from '@agent-network/contracts/agents/agent-types';
import { LRUCache } from 'lru-cache';
import type { KnownCaller } from '../../accounts/caller.ts';
import { fileFacts } from '../../files/file-refs.ts';
import { ownerOf } from '../../files/receive-file.ts';
import { AppError, invalid } from '../../lib/app-error.ts';
import { FILE_KEYWORD, type FileFacts } from '../../lib/json-schema/file-rule.ts';
import { type Fault, isLight } from '../../lib/json-schema/schema-rules.ts';
import { checkInThread } from '../../lib/json-schema/schema-thread.ts';
import type { Checked, Validator } from '../../lib/json-schema/validator.ts';
import { QUICK_STEPS } from '../../lib/json-schema/work.ts';
import type { Store } from '../../store/database.ts';
import type { CallableAgent } from '../agent.ts';
import { countUnits, unitsFault } from '../count-units.ts';
import { findOwnedTypes } from './types-store.ts';

/** The parts of a call that an agent's types are about. */
export interface TypedCall {
  readonly input: Record<string, unknown>;
  readonly capability?: string | null | undefined;
}

type TypedAgent = Pick<CallableAgent, 'capabilities' | 'typesId' | 'perUnit'>;

/** The schema version and the capability that decide about a result. */
interface ResultCall {
  readonly typesId: string | null;
  readonly capability: string | null;
}

/** Facts about the files of a result, besides those that the caller had before. */
interface ResultFiles {
  readonly ownerId: string;
  readonly added: FileFacts;
}

/** Holds calls and results to the types that agents declare. Schemas are compiled once for each version, and kept while they are used. */
export interface TypeChecks {
  /**
   * Throws VALIDATION_ERROR, naming the fields, when the agent does not take this input, has no such capability, or has a price by units
   * that cannot be counted in it: before any price is made.
   */
  requireInput(agent: TypedAgent, call: TypedCall, by: KnownCaller): Promise<void>;
  /** True if `requireInput` would accept the call. */
  fits(agent: TypedAgent, call: TypedCall, by: KnownCaller): Promise<boolean>;
  /** True when the result of such a call is validated against a schema. */
  judgesResult(call: ResultCall): Promise<boolean>;
  /** Explains in words why a result does not match the declared schema; null: it matches, or none was declared. */
  faultOfResult(call: ResultCall, result: unknown, files: ResultFiles): Promise<string | null>;
}

/** Compiled schemas in memory, by the size of their JSON; compiled they take about ten times that. */
const MAX_HELD_BYTES = 4_000_000;

interface Held {
  readonly schema: string;
  /** Account of the agent's owner. */
  readonly owner: string;
  /** null: the schema is too large for the event loop. */
  readonly validator: Validator | null;
}

type SchemaName = 'inputSchema' | 'outputSchema';

const nothing: Held = { schema: '', owner: '', validator: null };
/** Work after which everything else has its turn: who chooses among many agents makes many checks. */
const LONG_MS = 5;

export function createTypeChecks({ db }: Pick<Store, 'db'>): TypeChecks {
  const held = new LRUCache<string, Held>({
    maxSize: MAX_HELD_BYTES,
    sizeCalculation: ({ schema }) => 200 + schema.length,
  });

  async function schemaOf(typesId: string, capability: string | null, name: SchemaName): Promise<Held> {
    const key = `${typesId} ${name} ${capability ?? ''}`;
    const known = held.get(key);
    if (known) return known;
    // A version is removed only when every call that was accepted with it is past its deadline.
    const found = await findOwnedTypes(db, typesId);
    const schema = found && typesOfCall(found.declared, capability)[name];
    const text = JSON.stringify(schema ?? null);
    const validator = schema && isLight(schema, text) ? await compileKnown(schema) : null;
    const read = found && schema ? { schema: text, owner: found.accountId, validator } : nothing;
    held.set(key, read);
    return read;
  }

  async function faultsOfInput(
    { typesId }: TypedAgent,
    { input, capability }: TypedCall,
    by: KnownCaller,
  ): Promise<Checked> {
    if (typesId === null) return [];
    const schema = await schemaOf(typesId, capability ?? null, 'inputSchema');
    return faultsOf({ db }, schema, input, { mayWait: false, ownerId: ownerOf(by), added: {} });
  }
  const canCount = ({ perUnit }: TypedAgent, { input }: TypedCall) =>
    perUnit === null || countUnits(perUnit, input) !== null;

  return {
    async requireInput(agent, call, by) {
      if (!hasCapability(agent, call)) throw invalid('capability', 'is not a capability of this agent');
      const faults = await faultsOfInput(agent, call, by);
      if (faults === 'too_much')
        throw invalid('input', "is too large to be checked against the agent's schema: it takes too many steps");
      if (faults.length > 0) throw inputRefused(faults);
      if (agent.perUnit && !canCount(agent, call)) throw unitsRefused(unitsFault(agent.perUnit));
    },
    async fits(agent, call, by) {
      if (!hasCapability(agent, call) || !canCount(agent, call)) return false;
      return (await faultsOfInput(agent, call, by)).length === 0;
    },
    async judgesResult({ typesId, capability }) {
      return typesId !== null && (await schemaOf(typesId, capability, 'outputSchema')).schema !== '';
    },
    async faultOfResult({ typesId, capability }, result, files) {
      if (typesId === null) return null;
      const faults = await faultsOf({ db }, await schemaOf(typesId, capability, 'outputSchema'), result, {
        ...files,
        mayWait: true,
      });
      if (faults === 'too_much') return "The result is too large to be checked against the agent's output schema.";
      return faults.length === 0 ? null : resultFault(faults);
    },
  };
}

/** Checks small schemas at once, and slower ones in a thread, in which owners take turns. */
async function faultsOf(
  ctx: Pick<Store, 'db'>,
  { schema, owner, validator }: Held,
  value: unknown,
  { mayWait, ownerId, added }: ResultFiles & { readonly mayWait: boolean },
): Promise<Checked> {
  if (schema === '') return [];
  const files = schema.includes(`"${FILE_KEYWORD}"`) ? { ...(await fileFacts(ctx, ownerId, value)), ...added } : {};
  const startMs = performance.now();
  const checked = validator?.check(value, { maxSteps: QUICK_STEPS, files }) ?? 'too_much';
  if (performance.now() - startMs > LONG_MS) await setImmediate();
  return checked === 'too_much' ? checkInThread({ schema, value, files }, { owner, mayWait }) : checked;
}

const hasCapability = ({ capabilities }: TypedAgent, { capability }: TypedCall): boolean =>
  capability === undefined || capability === null || capabilities.includes(capability);

const MAX_PATH = 200;
const MAX_MESSAGE = 1000;

/** A path for messages, without control characters: names come from callers and agents, and reach people's terminals. */
function pathOf(root: string, at: readonly string[]): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removing control characters is the point
  const clean = [root, ...at].join('.').replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, ' ');
  return clean.length > MAX_PATH ? `${clean.slice(0, MAX_PATH).toWellFormed()}…` : clean.toWellFormed();
}

function inputRefused(faults: readonly Fault[]): AppError<'VALIDATION_ERROR'> {
  const fields = faults.map(({ at, message }) => ({ path: pathOf('input', at), message }));
  const [first] = fields;
  const message = `The input does not fit the schema that the agent declares: ${first?.path} ${first?.message}.`;
  return new AppError('VALIDATION_ERROR', message, { details: { fields } });
}

const unitsRefused = ({ at, message }: { at: readonly string[]; message: string }) =>
  invalid(pathOf('input', at), message);

function resultFault(faults: readonly Fault[]): string {
  const list = faults.map(({ at, message }) => `${pathOf('result', at)} ${message}`).join('; ');
  const shown = list.length > MAX_MESSAGE ? `${list.slice(0, MAX_MESSAGE).toWellFormed()}…` : list;
  return `The result does not fit the schema that the agent declares: ${shown}.`;
}

/** The schemas of JSON Schema itself are loaded where agents declare types: elsewhere they would cost every start their reading. */
async function compileKnown(schema: unknown): Promise<Validator> {
  const validator = await import('../../lib/json-schema/validator.ts');
  return validator.compileKnown(schema);
}
