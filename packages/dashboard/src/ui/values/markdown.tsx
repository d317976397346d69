import { ExternalLink } from './link.tsx';
import { type Block, blocksOf, piecesOf } from './markdown-blocks.ts';

/**
 * A text in Markdown, drawn by elements of this page: markup in it stays text, links lead to http(s) only, and there are no remote
 * pictures.
 */
export const Markdown = ({ text }: { text: string }) => (
  <div dir="auto" className="space-y-3 wrap-anywhere">
    {blocksOf(text).map((block, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: blocks have nothing but their place
      <BlockView key={at} block={block} />
    ))}
  </div>
);

function BlockView({ block }: { block: Block }) {
  if (block.kind === 'code')
    return (
      <pre tabIndex={0} className="overflow-x-auto rounded-md bg-sunken p-3 font-mono text-[13px]">
        {block.text}
      </pre>
    );
  if (block.kind === 'list') {
    const List = block.isOrdered ? 'ol' : 'ul';
    return (
      <List className={block.isOrdered ? 'list-decimal pl-6' : 'list-disc pl-6'}>
        {block.items.map((item, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have nothing but their place
          <li key={at}>
            <Line text={item} />
          </li>
        ))}
      </List>
    );
  }
  const line = <Line text={block.text} />;
  if (block.kind === 'quote') return <blockquote className="border-l-2 border-line pl-3 text-muted">{line}</blockquote>;
  return <p className={block.kind === 'heading' ? 'font-semibold' : 'whitespace-pre-wrap'}>{line}</p>;
}

const Line = ({ text }: { text: string }) =>
  piecesOf(text).map((piece, at) => {
    const key = `${at} ${piece.kind}`;
    if (piece.kind === 'link')
      return (
        <ExternalLink key={key} href={piece.href}>
          {piece.text}
        </ExternalLink>
      );
    if (piece.kind === 'bold') return <strong key={key}>{piece.text}</strong>;
    if (piece.kind === 'code')
      return (
        <code key={key} className="rounded bg-sunken px-1 font-mono text-[0.9em]">
          {piece.text}
        </code>
      );
    return piece.text;
  });
