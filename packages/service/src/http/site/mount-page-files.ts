import { readFileSync } from 'node:fs';
import type { AgentDetail } from '@agent-network/contracts/agents/agents';
import type { Context, Hono } from 'hono';
import { addressSubject } from '../../accounts/limits/rate-limit.ts';
import { agentIdOf } from '../../agents/agent-slug.ts';
import { readAgent } from '../../agents/search/find-agent.ts';
import { notFound } from '../../lib/app-error.ts';
import { madeOnce } from '../../lib/made-once.ts';
import { announcedManifest } from '../catalogs/entries.ts';
import { answerDocument, type Document, documentAnswer, toDocument } from '../documents/document-answer.ts';
import { createFreshDocuments } from '../documents/fresh-documents.ts';
import type { HttpContext } from '../request/http-context.ts';
import { addressOf } from '../request/remote-address.ts';
import { PAGE_GZIP_FROM_BYTES, pageStyle, styleVersion } from './layout.ts';
import { priceText } from './parts.ts';
import type { PreviewCard } from './preview-card.ts';
import { createPreviewDrawer } from './preview-drawer.ts';
import { networkName, siteOf } from './site.ts';
import { createSitemap } from './sitemap.ts';
import { scriptFiles } from './try-part.ts';

const DAY = 'public, max-age=86400';
const HOUR = 'public, max-age=3600';
const QUARTER = 'public, max-age=900';

/** The icon for clients without SVG. Browsers request the first two by these names, declared or not. */
const pictures = [
  ['/favicon.ico', 'image/x-icon'],
  ['/apple-touch-icon.png', 'image/png'],
  ['/icon-192.png', 'image/png'],
  ['/icon-512.png', 'image/png'],
] as const;

const manifestText = (label: string): string =>
  JSON.stringify({
    name: label,
    start_url: '/',
    display: 'browser',
    background_color: '#fafafb',
    theme_color: '#4f46e5',
    icons: [192, 512].map((px) => ({ src: `/icon-${px}.png`, sizes: `${px}x${px}`, type: 'image/png' })),
  });

const iconFile = new URL('favicon.svg', import.meta.url);

/** Serves the files of public pages and search engines: style, icon, pictures of link previews, sitemap and robots.txt. */
export function mountPageFiles(app: Hono, ctx: HttpContext): void {
  const style = madeOnce(() => toDocument(pageStyle, 'text/css; charset=utf-8', PAGE_GZIP_FROM_BYTES));
  const icon = madeOnce(() => toDocument(readFileSync(iconFile, 'utf8'), 'image/svg+xml'));
  const robots = madeOnce(() => toDocument(robotsText(ctx), 'text/plain; charset=utf-8'));
  const still = (path: string, document: () => Document, cache: (c: Context) => string) =>
    app.get(path, (c) => documentAnswer(c, document(), { 'cache-control': cache(c) }));
  // Pages name the version that they were made with.
  still('/pages.css', style, (c) =>
    c.req.query('v') === styleVersion ? 'public, max-age=31536000, immutable' : 'no-cache',
  );
  for (const [path, text] of scriptFiles) {
    const script = madeOnce(() => toDocument(text, 'text/javascript; charset=utf-8', PAGE_GZIP_FROM_BYTES));
    still(path, script, () => 'public, no-cache');
  }
  still('/favicon.svg', icon, () => DAY);
  for (const [path, type] of pictures)
    still(
      path,
      madeOnce(() => toDocument(new Uint8Array(readFileSync(new URL(`icons${path}`, import.meta.url))), type)),
      () => DAY,
    );
  const manifest = madeOnce(() => toDocument(manifestText(siteOf(ctx).label), 'application/manifest+json'));
  still('/site.webmanifest', manifest, () => DAY);
  still('/robots.txt', robots, () => HOUR);
  mountPreviews(app, ctx);
  const sitemap = createSitemap(ctx);
  app.get('/sitemap.xml', (c) => answerDocument(c, () => sitemap.index(), QUARTER));
  app.get('/:file{sitemap-[1-9][0-9]{0,3}\\.xml}', (c) => {
    const number = Number(/\d+/.exec(c.req.path)?.[0]);
    return answerDocument(c, () => sitemap.file(number), QUARTER);
  });
}

function mountPreviews(app: Hono, ctx: HttpContext): void {
  const drawer = createPreviewDrawer();
  const fresh = createFreshDocuments<PreviewCard>();
  const draw = (c: Context, card: PreviewCard) => drawer.draw(card, addressSubject(addressOf(ctx, c)));
  const site = siteOf(ctx);
  app.get('/preview.png', (c) => {
    const card: PreviewCard = {
      label: site.label,
      id: null,
      title: 'Call AI agents. Pay per call.',
      lines: [`In USDC on ${networkName(site)}`],
    };
    return answerDocument(c, () => draw(c, card), DAY);
  });
  app.get('/agents/:part/preview.png', (c) =>
    answerDocument(
      c,
      async () => {
        const id = agentIdOf(c.req.param('part'));
        if (id === null) throw notFound('agent');
        return draw(c, await fresh(id, async () => agentCard(await readAgent(ctx, id), site.label)));
      },
      HOUR,
    ),
  );
}

const agentCard = ({ id, name, rates, metadata, capabilities }: AgentDetail, label: string): PreviewCard => ({
  label,
  id,
  title: name,
  lines: [priceText(rates.perRequest, metadata), capabilities.join(', ')],
});

/** Lists of filters are endless, and the dashboard is for people who are signed in. */
function robotsText(node: HttpContext): string {
  const { baseUrl } = node;
  const catalog = announcedManifest(node);
  return `User-agent: *
Allow: /
Disallow: /dashboard/
Disallow: /explore?

Sitemap: ${baseUrl}/sitemap.xml
${catalog === null ? '' : `Agentmap: ${baseUrl}${catalog}\n`}`;
}
