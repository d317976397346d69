export const TEMPLATE_DATABASE = 'agent_network_template';

/** The URL of another database on the same server, with the same role. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
