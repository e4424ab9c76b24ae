const isApple = (): boolean => /mac|iphone|ipad/i.test(navigator.userAgent)

/** "mod+k" as it is printed on this machine's keys. */
export function keyWords(key: string): string {
  const words: Record<string, string> = { mod: isApple() ? '⌘' : 'Ctrl', shift: '⇧', escape: 'Esc', enter: '↵' }
  return key
    .split('+')
    .map((part) => words[part] ?? (part.length === 1 ? part.toUpperCase() : part))
    .join(isApple() ? '' : '+')
}
