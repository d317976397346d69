import type { Fault } from '../../lib/json-schema/schema-rules.ts';
import type { Validator } from '../../lib/json-schema/validator.ts';

/** The schemas of JSON Schema itself are loaded where agents declare types: elsewhere they would cost every start their reading. */
export async function compileSchema(schema: unknown): Promise<Validator | readonly Fault[]> {
  const validator = await import('../../lib/json-schema/validator.ts');
  return validator.compileSchema(schema);
}
