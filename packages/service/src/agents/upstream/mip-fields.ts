import { isObject, type Json } from '../../lib/json/json-object.ts';

const MAX_FIELDS = 500;

/**
 * The fields of a job's input, as a list, in groups or wrapped in an object of its own; null: it is none of these. What stands there is for
 * the input only: an agent that cannot be understood here can still be called.
 */
export function fieldsIn(schema: unknown, depth = 0): Json[] | null {
  if (Array.isArray(schema)) {
    const objects = schema.filter(isObject);
    const areGroups =
      objects.length > 0 && objects.every((each) => typeof each.type !== 'string' && listIn(each) !== null);
    return (areGroups ? objects.flatMap((group) => (listIn(group) ?? []).filter(isObject)) : objects).slice(
      0,
      MAX_FIELDS,
    );
  }
  if (!isObject(schema) || depth > 3) return null;
  for (const name of ['input_data', 'input_groups', 'fields', 'groups', 'input_schema', 'data', 'result']) {
    const fields = schema[name] === undefined ? null : fieldsIn(schema[name], depth + 1);
    if (fields) return fields;
  }
  return null;
}

/** The fields of a group. */
function listIn({ input_data: data, fields, inputs }: Json): unknown[] | null {
  return [data, fields, inputs].find(Array.isArray) ?? null;
}
