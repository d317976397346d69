import { useRef, useState } from 'react';

/** Copies a text; `isCopied` is true for a moment after. */
export function useCopy(): { isCopied: boolean; copy: (text: string) => void } {
  const [isCopied, setIsCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const copy = (text: string) => {
    clearTimeout(timer.current);
    void navigator.clipboard.writeText(text).then(() => {
      setIsCopied(true);
      timer.current = setTimeout(() => setIsCopied(false), 1500);
    });
  };
  return { isCopied, copy };
}
