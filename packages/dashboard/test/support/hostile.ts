/** What a stranger may write into any text of theirs: it has to show as it is, and to do nothing. */
export const hostileText =
  '<img src=x onerror="document.title=1"><script>document.title=2</script> [click](javascript:alert(1)) {{7*7}}';

/** What only an agent may say, as the node takes no such characters: turns around how the rest is read. */
export const turnedText = 'invoice\u202Efdp.exe';
