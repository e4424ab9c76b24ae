export const PAGE_BYTES = 4096
/** The unit in which changes are found and stored. A small transaction touches a few lines of a few pages. */
export const LINE_BYTES = 64
const LINES_PER_PAGE = PAGE_BYTES / LINE_BYTES

/** Which lines of a page changed: bit n of `low` is line n, bit n of `high` is line 32 + n. */
export interface LineMask {
  low: number
  high: number
}

export const linesIn = (mask: LineMask): number[] => {
  const lines: number[] = []
  for (let line = 0; line < LINES_PER_PAGE; line++) {
    const half = line < 32 ? mask.low : mask.high
    if ((half >>> (line & 31)) & 1) lines.push(line)
  }
  return lines
}

/** The lines of the database file that are newer in memory than on disk. */
export class DirtyLines {
  readonly #masks = new Map<number, LineMask>()

  get isEmpty(): boolean {
    return this.#masks.size === 0
  }

  mark(fileLine: number): void {
    const page = Math.floor(fileLine / LINES_PER_PAGE)
    const line = fileLine % LINES_PER_PAGE
    let mask = this.#masks.get(page)
    if (!mask) this.#masks.set(page, (mask = { low: 0, high: 0 }))
    if (line < 32) mask.low = (mask.low | (1 << line)) >>> 0
    else mask.high = (mask.high | (1 << (line - 32))) >>> 0
  }

  markBytes(from: number, to: number): void {
    for (let line = Math.floor(from / LINE_BYTES); line * LINE_BYTES < to; line++) this.mark(line)
  }

  /** Hands over what changed, in file order, and starts anew. Pages past the end of the file are no longer part of it. */
  take(fileBytes: number): [page: number, mask: LineMask][] {
    const taken = [...this.#masks].filter(([page]) => page * PAGE_BYTES < fileBytes).sort(([a], [b]) => a - b)
    this.#masks.clear()
    return taken
  }
}
