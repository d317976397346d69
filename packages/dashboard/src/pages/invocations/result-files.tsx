import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { client } from '../../app/client.ts';
import { saveBlob } from '../../app/save-file.ts';
import { Button } from '../../ui/controls/button.tsx';
import { ScrollBox } from '../../ui/layout/scroll-box.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import type { ResultFile } from './result-parts.ts';

type Preview = 'image' | 'audio' | 'text';

/** Types that a browser shows without running anything of their content. */
const previews: Readonly<Record<string, Preview>> = {
  ...{ 'image/png': 'image', 'image/jpeg': 'image', 'image/gif': 'image', 'image/webp': 'image' },
  ...{ 'audio/wav': 'audio', 'audio/mpeg': 'audio', 'text/plain': 'text', 'application/json': 'text' },
};

const MAX_BYTES: Readonly<Record<Preview, number>> = { image: 5_000_000, audio: 16_000_000, text: 64 * 1024 };
/** Files with a preview; the others are only named. */
const MAX_PREVIEWS = 8;

/** The preview that a file has by its type and size; null: it is only saved. */
function previewOf({ mediaType, size }: ResultFile): Preview | null {
  const preview = previews[mediaType.toLowerCase()] ?? null;
  return preview !== null && size !== null && size <= MAX_BYTES[preview] ? preview : null;
}

const sizeText = new Intl.NumberFormat('en', {
  style: 'unit',
  unit: 'byte',
  notation: 'compact',
  unitDisplay: 'narrow',
});

const contentOf = async (requestId: string, { fileId, mediaType }: ResultFile): Promise<Blob> => {
  const bytes = await client.getFileContent({ params: { fileId }, query: { request: requestId } });
  return new Blob([bytes], { type: previews[mediaType.toLowerCase()] ? mediaType : 'application/octet-stream' });
};

/** Files of a result, each to be saved; pictures, sounds and texts are shown. */
export const ResultFiles = ({ requestId, files }: { requestId: string; files: readonly ResultFile[] }) => (
  <ul aria-label="Files" className="space-y-3">
    {files.map((file, at) => (
      <li key={file.fileId} className="space-y-2">
        <FileLine requestId={requestId} file={file} />
        {at < MAX_PREVIEWS && previewOf(file) && <FilePreview requestId={requestId} file={file} />}
      </li>
    ))}
  </ul>
);

function FileLine({ requestId, file }: { requestId: string; file: ResultFile }) {
  const save = useMutation({
    mutationFn: async () => saveBlob(file.name, await contentOf(requestId, file)),
  });
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <bdi className="min-w-0 wrap-anywhere">{file.name}</bdi>
        <span className="text-[13px] text-muted">
          {file.mediaType}
          {file.size !== null && `, ${sizeText.format(file.size)}`}
        </span>
        <Button size="sm" icon="download" className="ml-auto" isBusy={save.isPending} onClick={() => save.mutate()}>
          Save
        </Button>
      </div>
      <ErrorNote error={save.error} />
    </>
  );
}

/** Shows the content as what its type says; its markup is never interpreted. */
function FilePreview({ requestId, file }: { requestId: string; file: ResultFile }) {
  const { data, error } = useQuery({
    queryKey: ['content of a file', requestId, file.fileId],
    queryFn: async () => {
      const content = await contentOf(requestId, file);
      return { content, text: previewOf(file) === 'text' ? await content.text() : '' };
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const url = useObjectUrl(data?.content);
  if (error) return <ErrorNote error={error} />;
  if (!data || url === null) return null;
  switch (previewOf(file)) {
    case 'image':
      return <img src={url} alt={file.name} className="max-h-96 max-w-full rounded-md border border-line" />;
    case 'audio':
      // biome-ignore lint/a11y/useMediaCaption: an agent's sound has no captions
      return <audio controls src={url} aria-label={file.name} className="w-full" />;
    default:
      return (
        <ScrollBox label={file.name}>
          <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
            {data.text}
          </p>
        </ScrollBox>
      );
  }
}

/** An address of a content in this page, while it is shown. */
function useObjectUrl(content: Blob | undefined): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!content) return;
    const made = URL.createObjectURL(content);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [content]);
  return url;
}
