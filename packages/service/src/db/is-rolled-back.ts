import pg from 'pg';

/**
 * Whether an error means that the transaction certainly changed nothing: the server itself refused a statement. A lost connection
 * says nothing about a commit that was on its way.
 */
export const isRolledBack = (error: unknown): boolean => error instanceof pg.DatabaseError;
