/**
 * SQL: what A2A names in the metadata of a request, as the index `invocation_context` has it. Fields of metadata that have \u0000 or halves of
 * characters anywhere cannot be read: such metadata names nothing. At most 256 characters are asked for.
 */
export const namedByA2a = (name: 'contextId' | 'messageId') =>
  `case when metadata::text !~ '\\\\u(0000|[dD][89a-fA-F])' then left(metadata #>> '{a2a,${name}}', 257) end`;
