import { openApiDocument } from '@agent-network/contracts/openapi/openapi';

export type Schema = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: Content & { readonly required: boolean };
  readonly responses: Readonly<Record<string, Content & { readonly description: string; readonly headers?: object }>>;
}

export interface Components {
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly parameters: Readonly<Record<string, Parameter>>;
}

/** The part of the OpenAPI document that the pages read. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<
    Record<string, { readonly post: { readonly summary: string; readonly requestBody: Content } }>
  >;
  readonly components: Components;
}

export const readDocument = (): ApiDocument => openApiDocument() as unknown as ApiDocument;

/** Last segment of a reference. */
export const nameOf = (ref: string): string => ref.split('/').at(-1) ?? '';

/** Returns every operation by its id. */
export const operationsOf = (document: ApiDocument): ReadonlyMap<string, Operation> =>
  new Map(
    Object.values(document.paths)
      .flatMap((item) => Object.values(item))
      .map((operation) => [operation.operationId, operation]),
  );
