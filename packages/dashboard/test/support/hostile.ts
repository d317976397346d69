/** Text that a stranger may write into any field: it must be shown literally, and have no effect. */
export const hostileText =
  '<img src=x onerror="document.title=1"><script>document.title=2</script> [click](javascript:alert(1)) {{7*7}}';

/** Text that only an agent can send, as the node refuses such characters: it reverses the reading direction. */
export const turnedText = 'invoice\u202Efdp.exe';
