import { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

// An MCP server with one tool, on stdio; it dies when told to. It ends if the keys of the one who serves it are in its environment.
if (Object.keys(process.env).some((name) => name.startsWith('AGENTNET_'))) process.exit(1);

const server = new Server({ name: 'stdio', version: '1' }, { capabilities: { tools: {} } });
const inputSchema = { type: 'object' as const, properties: { task: { type: 'string' as const } } };
server.setRequestHandler('tools/list', () => ({ tools: [{ name: 'shout', inputSchema }] }));
server.setRequestHandler('tools/call', ({ params }) => {
  if (params.arguments?.task === 'die') process.exit(1);
  return { content: [{ type: 'text' as const, text: String(params.arguments?.task).toUpperCase() }] };
});
await server.connect(new StdioServerTransport());
