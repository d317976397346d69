/** The value of a JSON text of another program, with or without a byte order mark (RFC 8259, section 8.1). Throws as `JSON.parse` does. */
export const parseJsonText = (text: string): unknown => JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text);
