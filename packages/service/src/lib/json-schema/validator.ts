import {
  BASIC,
  buildSchemaDocument,
  type CompiledSchema,
  compile,
  getSchema,
  interpret,
} from '@hyperjump/json-schema/experimental';
import * as Instance from '@hyperjump/json-schema/instance/experimental';
import { isDeeperThan } from '../json/json-depth.ts';
import { explain, type RawError } from './explain.ts';
import { counting } from './keywords.ts';
import { type Fault, faultsOfSchema } from './schema-rules.ts';
import { TooMuchWorkError, Work } from './work.ts';

/** A compiled JSON Schema (2020-12). It is interpreted: no code is made from what strangers wrote. */
export interface Validator {
  /** Faults of a value, at most twenty; empty: the value fits. `too_much`: the check takes more than the allowed steps. */
  check(value: unknown): readonly Fault[] | 'too_much';
}

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
/** Every schema is its own document: references stay within it, and nothing is registered or fetched. */
const PLACE = 'https://schema.invalid/schema';
const MAX_DEPTH = 128;

/** Compiles a schema, or returns what this node does not take of it. */
export async function compileSchema(schema: unknown): Promise<Validator | readonly Fault[]> {
  const faults = faultsOfSchema(schema);
  if (faults.length > 0) return faults.slice(0, 20);
  const broken = (await metaValidator()).check(schema);
  if (broken === 'too_much') return [{ at: [], message: 'is too large to be checked' }];
  if (broken.length > 0) return broken;
  const { $id: _id, ...root } = structuredClone(schema) as Record<string, unknown>;
  return validatorOf(await compileDocument(root), root);
}

async function compileDocument(root: Record<string, unknown>): Promise<CompiledSchema> {
  const document = buildSchemaDocument(root as never, PLACE, DIALECT);
  return compile(await getSchema(PLACE, { _cache: { [PLACE]: document } } as never));
}

let meta: Promise<Validator> | null = null;

/** The schema of schemas. */
function metaValidator(): Promise<Validator> {
  meta ??= getSchema(DIALECT).then(async (schema) => validatorOf(await compile(schema), null));
  return meta;
}

const validatorOf = (compiled: CompiledSchema, schema: Record<string, unknown> | null): Validator => ({
  check(value) {
    if (isDeeperThan(value, MAX_DEPTH)) return [{ at: [], message: `is nested deeper than ${MAX_DEPTH} levels` }];
    const work = new Work();
    try {
      work.chargeValue(value);
      const options = { outputFormat: BASIC, plugins: [counting(work)] };
      const output = interpret(compiled, Instance.fromJs(value as never), options) as {
        valid: boolean;
        errors?: RawError[];
      };
      return output.valid ? [] : explain(output.errors ?? [], schema, value);
    } catch (error) {
      if (error instanceof TooMuchWorkError || error instanceof RangeError) return 'too_much';
      throw error;
    }
  },
});
